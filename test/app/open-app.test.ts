import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../helpers/world.ts';

/** A stand-in for the program that opens addresses: it notes its command line and does what a test says. */
const OPENER = `#!/usr/bin/env node
const { writeFileSync } = require('node:fs');
const address = process.argv[2];
writeFileSync(process.env.NOTE, process.argv.join('\\n'));
const ask = async () => {
  const { status, headers } = await fetch(address, { redirect: 'manual' });
  return { status, location: headers.get('location') };
};
if (process.env.OPENER === 'fails') process.exit(3);
(async () => {
  const answers = [];
  for (let i = 0; i < Number(process.env.TIMES ?? 1); i++) answers.push(await ask().catch(() => 'gone'));
  writeFileSync(process.env.NOTE + '.answers', JSON.stringify(answers));
})();
`;

const ASK_AS_NOBODY = `
process.setgid(65534);
process.setuid(65534);
fetch(process.argv[1], { redirect: 'manual' }).then(({ status }) => console.log(status));
`;

describe.runIf(process.platform === 'linux')('`kaiwu app` hands its link to the browser', () => {
  let world: World;
  let note: string;
  let tools: string;
  beforeAll(async () => {
    world = await startWorld();
    tools = join(world.home, 'tools');
    await mkdir(tools);
    await writeFile(join(tools, 'xdg-open'), OPENER);
    await chmod(join(tools, 'xdg-open'), 0o755);
  }, 60_000);
  afterAll(() => world?.stop(), 60_000);

  let runs = 0;
  const open = (env: Record<string, string> = {}) => {
    note = join(world.home, `note-${runs++}`);
    return world.cli(['app', '--json'], {
      env: { ...world.env, PATH: `${tools}${delimiter}${world.env.PATH}`, NOTE: note, ...env },
    });
  };
  const answers = async () => JSON.parse(await readFile(`${note}.answers`, 'utf8')) as unknown[];

  test('by an address that says nothing, and only once', async () => {
    const { json } = await open({ TIMES: '2' });
    expect(json).toMatchObject({ status: 'ok', output: { opened: true } });
    const commandLine = await readFile(note, 'utf8');
    expect(commandLine).toMatch(/http:\/\/127\.0\.0\.1:\d+\/[\w-]+$/);
    expect(commandLine).not.toMatch(/key=|open=/);
    await expect.poll(() => answers().catch(() => [])).toHaveLength(2);
    const [first, second] = await answers();
    expect(first).toMatchObject({ status: 302, location: expect.stringMatching(/#key=\S+/) });
    expect(second).not.toMatchObject({ status: 302 });
  });

  test.runIf(process.getuid?.() === 0)('another user who reads that address is sent nowhere', async () => {
    const told = open({ TIMES: '0' });
    await expect.poll(() => readFile(`${note}.answers`, 'utf8')).toBe('[]');
    const address = (await readFile(note, 'utf8')).split('\n').at(-1)!;
    const child = spawn(process.execPath, ['-e', ASK_AS_NOBODY, address], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const seen = (await child.stdout.toArray()).join('').trim();
    expect(seen).toBe('403');
    const own = await fetch(address, { redirect: 'manual' });
    expect(own.status).toBe(302);
    expect((await told).json).toMatchObject({ output: { opened: true } });
  });

  test('an agent that reads it is sent nowhere either', async () => {
    const told = open({ TIMES: '0' });
    await expect.poll(() => readFile(`${note}.answers`, 'utf8')).toBe('[]');
    const address = (await readFile(note, 'utf8')).split('\n').at(-1)!;
    const ask = `fetch(process.argv[1], { redirect: 'manual' }).then(({ status }) => console.log(status))`;
    const child = spawn(process.execPath, ['-e', ask, address], {
      env: { ...world.env, KAIWU_AGENT_SESSION: 'sess_a' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect((await child.stdout.toArray()).join('').trim()).toBe('403');
    await fetch(address, { redirect: 'manual' });
    await told;
  });

  test('where nothing opens it, the link is printed for the person', async () => {
    const { json } = await open({ OPENER: 'fails' });
    expect(json).toMatchObject({
      status: 'ok',
      output: { opened: false, url: expect.stringMatching(/#key=\S+/) },
    });
  });
});
