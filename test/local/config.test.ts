import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Home, makeHome } from '../helpers/signed-in.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const GOOD = {
  version: 1,
  machineId: 'mach_0123456789abcdef',
  activeProfile: 'a',
  profiles: { a: { url: 'https://a.example' } },
};
const write = (text: string) => writeFile(home.path('config.json'), text, { mode: 0o600 });
const read = () => readFile(home.path('config.json'), 'utf8');
const add = (name: string) => home.cli(['server', 'add', name, `https://${name}.example`]);

describe('config.json', () => {
  it('keeps all of 20 additions at once, and no reader ever sees half a file', async () => {
    const adding = Promise.all(Array.from({ length: 20 }, (_, i) => add(`p${i}`)));
    const still = { adding: true };
    void adding.finally(() => {
      still.adding = false;
    });
    let seen = 0;
    while (still.adding) {
      const text = await read().catch(() => undefined);
      if (text !== undefined) {
        JSON.parse(text);
        seen++;
      }
      await setImmediate();
    }
    const results = await adding;
    expect(results.filter(({ code }) => code !== 0)).toEqual([]);
    const { profiles, activeProfile } = JSON.parse(await read());
    expect(Object.keys(profiles)).toHaveLength(20);
    expect(profiles[activeProfile]).toBeDefined();
    expect(seen).toBeGreaterThan(10);
  });

  it('keeps what this version does not know', async () => {
    const newer = { ...GOOD, later: { x: [1] }, profiles: { a: { ...GOOD.profiles.a, colour: 'red' } } };
    await write(JSON.stringify(newer));
    expect((await add('b')).code).toBe(0);
    const after = JSON.parse(await read());
    expect(after.later).toEqual({ x: [1] });
    expect(after.profiles.a).toEqual(newer.profiles.a);
  });

  it('stays a symbolic link', async () => {
    await write(JSON.stringify(GOOD));
    await mkdir(home.path('elsewhere'));
    await rename(home.path('config.json'), home.path('elsewhere/real.json'));
    await symlink(home.path('elsewhere/real.json'), home.path('config.json'));
    expect((await add('b')).code).toBe(0);
    expect((await lstat(home.path('config.json'))).isSymbolicLink()).toBe(true);
    expect(Object.keys(JSON.parse(await read()).profiles)).toEqual(['a', 'b']);
  });

  const whole = JSON.stringify(GOOD);
  const damages: [string, string, RegExp][] = [
    ['cut in half', whole.slice(0, whole.length / 2), /not whole JSON/],
    ['empty', '', /it is empty/],
    ['blank', '\n\n', /it is empty/],
    ['a list', '[]', /the root/],
    ['without profiles', '{"version":1,"machineId":"m"}', /profiles/],
    ['of a later version', '{"version":2,"machineId":"m","profiles":{}}', /version/],
  ];
  it.each(damages)('%s: reading and adding stop, name the file and leave it', async (_, text, why) => {
    await write(text);
    for (const result of [
      await add('b'),
      await home.cli(['server', 'list']),
      await home.cli(['session', 'list']),
    ]) {
      expect(result.code).toBe(1);
      expect(result.stderr).toMatch(/^error state_damaged: /);
      expect(result.stderr).toContain(home.path('config.json'));
      expect(result.stderr).toMatch(why);
    }
    expect(await read()).toBe(text);
  });

  it.each([
    'config.json',
    'profiles/a/credentials.json',
    'profiles/a/credential-store.json',
    'profiles/a/daemon.json',
  ])('a FIFO at %s is an error, not a wait', async (name) => {
    await write(whole);
    await mkdir(home.path('profiles/a'), { recursive: true, mode: 0o700 });
    execFileSync('rm', ['-f', home.path(name)]);
    execFileSync('mkfifo', ['-m', '600', home.path(name)]);
    const command = name.includes('daemon') ? ['daemon', 'status'] : ['session', 'list'];
    const { code, stderr } = await home.cli(command, { timeoutMs: 20_000 });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${home.path(name)} cannot be used: it is not a regular file`),
    ]);
  });

  it('a folder at its path is an error', async () => {
    await mkdir(home.path('config.json'));
    expect((await add('b')).stderr).toMatch(/not a regular file/);
  });

  it.runIf(process.getuid?.() === 0)('a full disk leaves the old file and says so', async () => {
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', home.home], {
        stdio: 'ignore',
      });
    } catch {
      // No right to mount here: the write path is the same one that the other tests use.
      return;
    }
    try {
      await write(whole);
      await add('b');
      const before = await read();
      execFileSync('sh', ['-c', `cat /dev/zero > "$0" 2>/dev/null || true`, home.path('filler')]);
      const { code, stderr } = await add('c');
      expect(code).toBe(1);
      expect(stderr).toMatch(/full|space|ENOSPC/i);
      expect(await read()).toBe(before);
    } finally {
      execFileSync('umount', ['-l', home.home]);
    }
  });
});
