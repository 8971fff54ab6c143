import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answersWith, type FakeBackend, startFakeBackend } from '../helpers/fake-backend.ts';
import { KAIWU } from '../helpers/kaiwu.ts';
import { isAlive, seenOf } from '../helpers/processes.ts';
import { type Home, makeHome, signIn } from '../helpers/signed-in.ts';

let home: Home;
let backend: FakeBackend;

/** A `systemctl` of the test's own, first in the PATH. */
beforeAll(async () => {
  home = await makeHome();
  backend = await startFakeBackend(answersWith({ status: 'ok', output: {} }));
  await signIn(home, 'a', backend.url);
  const bin = home.path('bin');
  await mkdir(bin);
  const words = [
    process.execPath,
    join(import.meta.dirname, 'fakes/systemctl.mjs'),
    home.home,
    process.execPath,
    KAIWU,
    'daemon',
    'run',
    '--server',
    'a',
    '--',
  ];
  await writeFile(
    join(bin, 'systemctl'),
    `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`,
  );
  await writeFile(join(bin, 'loginctl'), '#!/bin/sh\necho no\n');
  for (const name of ['systemctl', 'loginctl']) await chmod(join(bin, name), 0o755);
  home.env.PATH = `${bin}:${home.env.PATH}`;
});
afterAll(async () => {
  await home.cli(['daemon', 'uninstall']);
  await backend.close();
  await home.remove();
});

const daemon = async (verb: string) => {
  await writeFile(home.path('calls'), '');
  const { json } = await home.cli(['daemon', verb, '--json']);
  return { ...json.output, calls: (await readFile(home.path('calls'), 'utf8')).trim().split('\n') };
};

it.runIf(process.platform === 'linux')(
  'a daemon that a service runs is ended and started by its manager',
  async () => {
    expect(await daemon('install')).toMatchObject({ manager: 'systemd', installed: true, active: true });
    const first = await daemon('start');
    expect(first.calls).not.toContain('start');
    const seen = seenOf(first.pid);

    const stopped = await daemon('stop');
    expect(stopped.calls).toContain('stop');
    expect(stopped).toMatchObject({
      state: 'stopped',
      note: expect.stringContaining('kaiwu daemon uninstall'),
    });
    expect(isAlive(seen)).toBe(false);
    // Its manager has nothing running any more, so nothing comes back.
    expect(isAlive(seenOf(Number(await readFile(home.path('keeper'), 'utf8'))))).toBe(false);
    expect(await daemon('status')).toMatchObject({
      state: 'stopped',
      service: { active: false, installed: true },
    });

    const second = await daemon('start');
    expect(second.calls).toContain('start');
    expect(second.state).toBe('running');

    const third = await daemon('restart');
    expect(third).toMatchObject({ state: 'running' });
    expect(third.pid).not.toBe(second.pid);
    expect(third.note).toBeUndefined();
    expect(await daemon('uninstall')).toMatchObject({ installed: false, active: false });
    expect((await daemon('status')).state).toBe('stopped');
  },
);
