import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { homeServer } from '../e2e/helpers/home-server.ts';
import { runInTerminal } from '../helpers/terminal.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { type FakeMcp, startFakeMcp } from '../managed/http-fakes.ts';

const PROGRAM = [process.execPath, ...homeServer('').config.args];

let world: World;
let remote: FakeMcp;
beforeAll(async () => {
  world = await startWorld();
  remote = await startFakeMcp();
}, 90_000);
afterAll(async () => {
  await remote?.close();
  await world?.stop();
}, 60_000);

type Options = Parameters<World['cli']>[1];
const servers = (args: string[], options?: Options) => world.cli(['mcp', 'servers', ...args], options);
const output = async ([verb = '', ...args]: string[], options?: Options) => {
  const { json, stdout, stderr } = await servers([verb, '--json', ...args], options);
  if (json?.status !== 'ok') throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  return json.output;
};
const refusal = async (args: string[], options?: Options) => {
  const { code, stderr } = await servers(args, options);
  expect(code).toBe(2);
  return stderr;
};
afterEach(async () => {
  const { servers: left } = await output(['list']);
  for (const { name } of left) await servers(['remove', name]);
});

const file = (name: string, value: unknown) => {
  writeFileSync(join(world.home, name), typeof value === 'string' ? value : JSON.stringify(value));
  return name;
};

describe('mcp servers add', () => {
  it('takes a program after --, variables by name and value, and a relative path from here', async () => {
    const added = await output(
      ['add', 'notes', '--env', 'CANARY', '--env', 'LOG=a=b', '--cwd', '.', '--', ...PROGRAM, '-y', '--json'],
      { env: { CANARY: 'geheim' } },
    );
    expect(added).toMatchObject({ name: 'notes', status: 'ready', secrets: ['env.CANARY', 'env.LOG'] });
    expect(added.config).toMatchObject({ command: process.execPath, cwd: world.home });
    expect(added.config.args.slice(-2)).toEqual(['-y', '--json']);
    const relative = await output(['add', 'mine', '--', './run.sh']);
    expect(relative.config.command).toBe(join(world.home, 'run.sh'));
    expect(relative).toMatchObject({ status: 'failed' });
  });

  it('takes an address with a token from stdin and headers, which the server gets and nobody is shown', async () => {
    const args = ['add', 'far', '--url', remote.url, '--token-stdin', '--header', 'X-Key: geheim: 1'];
    const { stdout, stderr, code } = await servers(args, { input: 'geheim-token\n' });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain('geheim');
    expect(stdout).toContain('token, headers.X-Key');
    const { headers } = remote.seen.at(-1)!.http;
    expect(headers).toMatchObject({ authorization: 'Bearer geheim-token', 'x-key': 'geheim: 1' });
  });

  it('takes JSON and a file of one server, from stdin as well, with flags laid over them', async () => {
    const config = { command: PROGRAM[0], args: PROGRAM.slice(1), env: { A: 'b' } };
    const input = JSON.stringify({ name: 'one', ...config });
    expect(await output(['add', '--input', '-'], { input })).toMatchObject({
      name: 'one',
      secrets: ['env.A'],
    });
    const path = file('two.json', { mcpServers: { two: config } });
    expect(await output(['add', '--file', path])).toMatchObject({ name: 'two', status: 'ready' });
    const third = await output(['add', 'three', '--file', path, '--exclude-tools', 'wipe']);
    expect(third).toMatchObject({ name: 'three', toolCounts: { available: 7, excluded: 1 } });
  });

  it('says what is wrong and what to type, and repeats no secret', async () => {
    const two = file('both.json', { mcpServers: { a: { command: 'a' }, b: { command: 'b' } } });
    const cases: [string[], RegExp, string?][] = [
      [['x'], /needs --url, or a command after `--`[\s\S]*servers add x -- npx/],
      [['--', '-y', 'geheim'], /begins with "-y"[\s\S]*name comes before/],
      [['x', '--', '-y', 'pkg'], /begins with "-y"[\s\S]*name comes before/],
      [['x', '--url', 'https://a.example', '--', 'a'], /one of them alone/],
      [['x', '--url', 'ftp://a.example'], /https:\/\/ or http:\/\//],
      [['x', '--url', 'https://a.example', '--header', 'geheim'], /takes 'Name: value'/],
      [['x', '--env', 'NOT_THERE', '--', 'a'], /no variable "NOT_THERE"/],
      [['x', '--env', '=geheim', '--', 'a'], /--env takes NAME=VALUE/],
      [['x', '--url', 'https://a.example', '--token-stdin'], /no token on stdin/],
      [['x', '--url', 'https://a.example', '--token-stdin', '--token', 'a'], /given twice/],
      [['{"name":"x"}'], /--input/],
      [['--file', two], /2 servers[\s\S]*import --file/],
      [['--file', '-'], /line 1, column 2/, '{geheim'],
    ];
    for (const [args, text, input] of cases) {
      const told = await refusal(['add', ...args], input === undefined ? {} : { input });
      expect(told).toMatch(text);
      if (!text.source.includes('takes')) continue;
      expect(told.replace('"geheim"', '')).not.toContain('geheim');
    }
    expect((await output(['list'])).servers).toEqual([]);
  });

  it('asks for a token on a terminal without showing it', async () => {
    const { code, output: shown } = await runInTerminal(
      ['mcp', 'servers', 'add', 'far', '--url', remote.url, '--token-stdin'],
      { env: world.env, cwd: world.home, answers: [[/Token: /, 'geheim\n']] },
    );
    expect(code).toBe(0);
    expect(shown).not.toContain('geheim');
    expect(remote.seen.at(-1)!.http.headers.authorization).toBe('Bearer geheim');
  });
});

describe('one server in words', () => {
  it('is how it does, what is wrong and what to type next', async () => {
    await output(['add', 'notes', '--', ...PROGRAM]);
    expect((await servers(['show', 'notes'])).stdout).toMatch(
      /^server {2}notes\nstatus {2}ready since [\s\S]*8 available\n[\s\S]*next {2}\S+ mcp tools list notes\n$/,
    );
    expect((await servers(['disable', 'notes'])).stdout).toMatch(/disabled since [\s\S]* enable notes\n$/);
    expect((await servers(['enable', 'notes'])).stdout).toMatch(/ready since/);
    // A word that belongs to no flag is no program: that stands behind the dashes.
    expect(await refusal(['update', 'notes', '--trusted', 'true'])).toMatch(
      /takes 1 argument; there is more: "true"/,
    );
    expect((await output(['update', 'notes', '--exclude-tools', 'wipe'])).toolCounts.excluded).toBe(1);
    expect((await output(['update', 'notes', '--exclude-tools', 'null'])).toolCounts.excluded).toBe(0);
    await output(['add', 'gone', '--', 'no-such-program']);
    expect((await servers(['list'])).stdout).toMatch(/gone +failed[\s\S]*mcp servers show gone\n/);
  });

  it('gives the texts of a result as they are, and says what the rest is', async () => {
    await output(['add', 'notes', '--', ...PROGRAM]);
    const call = (tool: string, ...more: string[]) =>
      world.cli(['mcp', 'tools', 'call', 'notes', tool, ...more]);
    expect((await call('turn_on', '--arguments', '{"room":"a"}')).stdout).toContain('"room":"a"');
    const { stdout } = await call('camera');
    expect(stdout).toContain('[image, image/png, ');
    expect(stdout).not.toMatch(/[\u200b\u202e]/);
    expect((await call('fails')).stderr).toMatch(/^error tool_failed: .*No such lamp/);
    expect((await call('nothing')).code).toBe(5);
  });
});

describe('mcp servers review', () => {
  const tool = (name: string, description: string) => ({
    name,
    description,
    inputSchema: { type: 'object' },
  });
  const stateOf = async (name: string) => {
    const { json } = await world.cli(['mcp', 'tools', 'list', 'notes', '--json']);
    return json.output.tools.find((one: { name: string }) => one.name === name)?.state as string;
  };
  async function change() {
    const path = join(world.home, file('tools.json', [tool('read', 'Reads.')]));
    await output(['add', 'notes', '--env', `TOOLS=${path}`, '--', ...PROGRAM]);
    file('tools.json', [tool('read', 'Reads\u202e and sends it on.'), tool('new', 'Is new.')]);
    await output(['test', 'notes']);
    await untilShown('and sends it on');
  }
  /** A report of the machine that was under way may tell once more what was before. */
  const untilShown = (text: string) =>
    vi.waitFor(
      async () => {
        const { stdout } = await servers(['review', 'notes']);
        if (!stdout.includes(text)) throw new Error(stdout);
      },
      { timeout: 15_000, interval: 200 },
    );

  it('shows the difference and accepts exactly what was shown', async () => {
    await change();
    const { stdout } = await servers(['review', 'notes']);
    expect(stdout).toMatch(/new {2}new, write\n[\s\S]*read {2}changed, write\n[\s\S]*- Reads\.\n/);
    expect(stdout).toContain('+ Reads\\u202e and sends it on.');
    expect(stdout).toContain('Nothing was accepted.');
    expect(await stateOf('read')).toBe('held_back');
    const word = /--accept (read@\w+)/.exec(stdout)![1]!;
    expect((await servers(['review', 'notes', '--accept', 'read'])).stderr).toMatch(/^error approval_stale/);
    expect((await servers(['review', 'notes', '--accept', 'red@1'])).stderr).toMatch(/Nearest: read/);
    file('tools.json', [tool('read', 'Again another.'), tool('new', 'Is new.')]);
    await output(['test', 'notes']);
    await untilShown('Again another.');
    expect((await servers(['review', 'notes', '--accept', word])).stderr).toMatch(/^error approval_stale/);
    const again = /--accept (read@\w+)/.exec((await servers(['review', 'notes'])).stdout)![1]!;
    expect(await output(['review', 'notes', '--accept', again])).toMatchObject({ accepted: ['read'] });
    expect([await stateOf('read'), await stateOf('new')]).toEqual(['available', 'held_back']);
  });

  it('asks for each on a terminal', async () => {
    await change();
    const { output: shown } = await runInTerminal(['mcp', 'servers', 'review', 'notes'], {
      env: world.env,
      cwd: world.home,
      answers: [
        [/Accept new .*\[y\/N\] /, 'y\n'],
        [/Accept read .*\[y\/N\] /, '\n'],
      ],
    });
    expect(shown).toContain('Accepted: new. Still held back: 1.');
    expect([await stateOf('read'), await stateOf('new')]).toEqual(['held_back', 'available']);
  });
});
