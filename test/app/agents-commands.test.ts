import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { bareEnv, type CliOptions, makeFolder, runKaiwu } from '../helpers/kaiwu.ts';

let home: string;
const agents = (args: string[], { env, ...options }: CliOptions = {}) =>
  runKaiwu(['agents', ...args], { env: { ...bareEnv(home), ...env }, cwd: home, ...options });
const file = () => join(home, 'agents.json');
const stored = () => JSON.parse(readFileSync(file(), 'utf8'));

beforeEach(async () => {
  home = await makeFolder();
  onTestFinished(() => rm(home, { recursive: true, force: true }));
});

describe('agents add', () => {
  it('keeps a command whole, its variables secret, and shows neither value', async () => {
    const added = await agents(
      [
        'add',
        'mine',
        '--env',
        'MY_KEY=s3cr3t=1',
        '--env',
        'FROM_SHELL',
        '--mode',
        'bypass=turbo',
        '--json',
      ].concat(['--', './bin/my-agent', 'acp', '--json', '--env', 'X=1', '-h']),
      { env: { FROM_SHELL: 'sh3ll' } },
    );
    const program = join(home, 'bin/my-agent');
    expect(added).toMatchObject({
      code: 0,
      stderr: `mine is added, but there is no file ${program}. It starts once the daemon finds it.\n`,
    });
    const output = {
      agentId: 'mine',
      source: 'added',
      command: [join(home, 'bin/my-agent'), 'acp', '--json', '--env', 'X=1', '-h'],
      environmentNames: ['FROM_SHELL', 'MY_KEY'],
      modes: { bypass: 'turbo' },
      file: file(),
    };
    expect(added.json).toEqual({ status: 'ok', output });
    expect(stored()).toEqual({
      version: 1,
      agents: {
        mine: {
          command: join(home, 'bin/my-agent'),
          args: ['acp', '--json', '--env', 'X=1', '-h'],
          env: { MY_KEY: 's3cr3t=1', FROM_SHELL: 'sh3ll' },
          modes: { bypass: 'turbo' },
        },
      },
    });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect((await agents(['show', 'mine', '--json'])).json.output).toEqual(output);
    const shown = (await agents(['show', 'mine'])).stdout;
    expect(shown).toContain('MY_KEY');
    expect(shown).not.toMatch(/s3cr3t|sh3ll/);
  });

  it('refuses names that are taken or none, and input that means nothing, and changes nothing then', async () => {
    await agents(['add', 'mine', '--', 'a']);
    const before = readFileSync(file(), 'utf8');
    const refused = async (args: string[], code: string, said: string | RegExp) => {
      const { json } = await agents([...args.slice(0, 2), '--json', ...args.slice(2)]);
      expect({ args, ...json.error }).toMatchObject({ args, code, message: expect.stringMatching(said) });
    };
    await refused(['add', 'mine', '--', 'b'], 'conflict', 'added already');
    await refused(['add', 'claude', '--', 'b'], 'conflict', 'comes with Kaiwu');
    await refused(['add', 'demo', '--', 'b'], 'conflict', 'comes with Kaiwu');
    await refused(['add', 'My Agent', '--', 'b'], 'invalid_input', 'no name for an agent');
    await refused(['add', '__proto__', '--', 'b'], 'invalid_input', 'no name for an agent');
    await refused(['add', 'other'], 'invalid_input', 'one of them');
    await refused(['add', 'other', '--registry', 'r.json', '--', 'b'], 'invalid_input', 'one of them');
    await refused(['add', 'other', '--env', '1X=2', '--', 'b'], 'invalid_input', /received "1X=…"/);
    await refused(['add', 'other', '--env', 'NOT_SET', '--', 'b'], 'invalid_input', 'no such variable');
    await refused(['add', 'other', '--env', 'KAIWU_HOME=/x', '--', 'b'], 'invalid_input', 'Kaiwu itself');
    await refused(
      ['add', 'other', '--mode', 'fast=turbo', '--', 'b'],
      'invalid_input',
      'one of default, plan',
    );
    await refused(['remove', 'other'], 'not_found', '"other"');
    await refused(['show', 'other'], 'not_found', '"other"');
    await refused(['show', 'constructor'], 'not_found', '"constructor"');
    await refused(['remove', 'constructor'], 'not_found', '"constructor"');
    expect(readFileSync(file(), 'utf8')).toBe(before);
  });

  it('is a person’s: a process of an agent neither adds nor removes', async () => {
    await agents(['add', 'mine', '--', 'a']);
    const env = { KAIWU_AGENT_SESSION: 'ses_1' };
    for (const args of [
      ['add', 'more', '--', 'b'],
      ['remove', 'mine'],
    ]) {
      expect(await agents(args, { env })).toMatchObject({
        code: 9,
        stderr: expect.stringContaining('session ses_1'),
      });
    }
    expect(Object.keys(stored().agents)).toEqual(['mine']);
    expect((await agents(['remove', 'mine', '--json'])).json.output).toEqual({
      removed: 'mine',
      note: expect.stringContaining('cannot start again'),
    });
    expect(stored().agents).toEqual({});
  });

  it('warns of a program that is not on this PATH, and adds it all the same', async () => {
    const { code, stderr } = await agents(['add', 'mine', '--', 'nosuchprogram']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'mine is added, but there is no program nosuchprogram on this PATH. It starts once the daemon finds it.\n',
    });
    expect((await agents(['add', 'other', '--', process.execPath])).stderr).toBe('');
    expect(Object.keys(stored().agents)).toEqual(['mine', 'other']);
  });

  it('keeps what others add at the same time', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `agent-${i}`);
    await Promise.all(names.map((name) => agents(['add', name, '--', name])));
    expect(Object.keys(stored().agents).sort()).toEqual(names);
  });

  it('says where a damaged file is damaged, and leaves it', async () => {
    const text = '{\n  "version": 1,\n  "agents": { "mine": oops }\n}\n';
    writeFileSync(file(), text, { mode: 0o600 });
    for (const args of [
      ['add', 'other', '--', 'a'],
      ['show', 'mine'],
      ['remove', 'mine'],
    ]) {
      const { code, stderr } = await agents(args);
      expect(code).toBe(1);
      expect(stderr).toContain(`${file()} cannot be used: it is not whole JSON from line 3, column 23 on`);
    }
    expect(readFileSync(file(), 'utf8')).toBe(text);
    // What comes with Kaiwu needs no file.
    expect((await agents(['show', 'codex'])).code).toBe(0);
    writeFileSync(file(), '{"version": 1, "agents": {"mine": {"command": "a", "args": "b"}}}');
    expect((await agents(['show', 'mine'])).stderr).toContain('agents.mine.args');
  });
});

describe('agents add --registry', () => {
  const started = { version: '1.0.0', description: 'x', license: 'MIT' };
  const archive = 'https://example.com/agent-1.0.0.tar.gz';
  const binary = Object.fromEntries(
    ['linux', 'darwin'].flatMap((os) =>
      ['x86_64', 'aarch64'].map((cpu) => [`${os}-${cpu}`, { archive, cmd: './bin/agent', args: ['acp'] }]),
    ),
  );
  const registry = {
    version: '1.0.0',
    agents: [
      {
        ...started,
        id: 'plain',
        name: 'Plain',
        distribution: { npx: { package: 'plain@1.0.0', args: ['--acp'] } },
      },
      {
        ...started,
        id: 'several',
        distribution: {
          npx: { package: '@x/y@2', cmd: 'y-acp', args: ['-v'], env: { Y_MODE: 'acp' } },
          binary,
        },
      },
      { ...started, id: 'snake', distribution: { uvx: { package: 'snake==3', args: ['serve'] } } },
      { ...started, id: 'snakes', distribution: { uvx: { package: 'snakes==3', cmd: 'one' } } },
      { ...started, id: 'by-hand', distribution: { binary } },
      { ...started, id: 'of-elsewhere', distribution: { binary: { 'plan9-mips': binary['linux-x86_64'] } } },
      { ...started, id: 'broken', distribution: { npx: { package: 7 } } },
    ],
    extensions: [],
  };

  beforeEach(() => writeFileSync(join(home, 'registry.json'), JSON.stringify(registry)));
  const add = async (id: string, ...more: string[]) =>
    (await agents(['add', id, '--registry', 'registry.json', '--json', ...more])).json;

  it('takes packages as the registry says they are started', async () => {
    await add('plain');
    await add('several', '--env', 'TOKEN=abc');
    await add('snake');
    await add('snakes');
    expect(stored().agents).toEqual({
      plain: { name: 'Plain', registryId: 'plain', command: 'npx', args: ['-y', 'plain@1.0.0', '--acp'] },
      several: {
        registryId: 'several',
        command: 'npx',
        args: ['-y', '--package', '@x/y@2', 'y-acp', '-v'],
        env: { Y_MODE: 'acp', TOKEN: 'abc' },
      },
      snake: { registryId: 'snake', command: 'uvx', args: ['snake==3', 'serve'] },
      snakes: { registryId: 'snakes', command: 'uvx', args: ['--from', 'snakes==3', 'one'] },
    });
  });

  it('leaves archives to the person, with the address and the command that follows', async () => {
    const { error } = await add('by-hand');
    expect(error).toMatchObject({ code: 'unsupported', details: { archive, cmd: './bin/agent' } });
    expect(error.hint).toBe(
      `Unpack ${archive}, then add it with \`kaiwu agents add by-hand -- PATH/TO/bin/agent acp\`.`,
    );
    expect((await add('of-elsewhere')).error).toMatchObject({
      code: 'unsupported',
      hint: expect.stringContaining('plan9-mips'),
    });
    expect(existsSync(file())).toBe(false);
  });

  it('names what is wrong with the file or the id', async () => {
    expect((await add('plane')).error).toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('plain'),
    });
    expect((await add('broken')).error).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('distribution.npx.package'),
    });
    writeFileSync(join(home, 'registry.json'), '{"agents": [\n{]}');
    expect((await add('plain')).error).toMatchObject({
      message: expect.stringContaining('registry.json:2:2'),
    });
    await rm(join(home, 'registry.json'));
    expect((await add('plain')).error).toMatchObject({ code: 'file_not_found' });
    writeFileSync(join(home, 'registry.json'), JSON.stringify(registry.agents[0]));
    expect((await add('plain')).status).toBe('ok');
  });
});
