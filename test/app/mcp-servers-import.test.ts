import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findServers, type HostServers } from '../../src/app/host-servers/find-servers.ts';
import type { HostName } from '../../src/app/host-servers/host-names.ts';
import { homeServer } from '../e2e/helpers/home-server.ts';
import { makeFolder } from '../helpers/kaiwu.ts';
import { runInTerminal } from '../helpers/terminal.ts';
import { startWorld, type World } from '../helpers/world.ts';

/** As a person's machine has them: home/… and project/…, by the host. */
const FILES: Record<HostName, Record<string, string>> = {
  claude: {
    'project/.mcp.json': '{"mcpServers":{"shared":{"command":"./run.sh","args":["a"]}}}',
    'home/.claude.json':
      '{"numStartups":3,"mcpServers":{"shared":{"command":"other"},"mine":{"type":"http","url":"https://a.example/x"}},"projects":{"PROJECT":{"mcpServers":{"local":{"command":"l"}}},"/other":{"mcpServers":{"not":{"command":"n"}}}}}',
    'home/.config/Claude/claude_desktop_config.json': '{"mcpServers":{"desk":{"command":"d"}}}',
  },
  cursor: {
    'project/.cursor/mcp.json': '// mine\n{"mcpServers":{"a":{"command":"a","env":{"K":"${env:TOKEN}"}}}}',
    'home/.cursor/mcp.json':
      '{"mcpServers":{"b":{"url":"https://b.example","headers":{"X":"${ABSENT:-none}"}}}}',
  },
  vscode: {
    'project/.vscode/mcp.json':
      '{"inputs":[],"servers":{"a":{"type":"stdio","command":"a","args":["${workspaceFolder}/x"]},"b":{"command":"b","env":{"K":"${input:key}"}}}}',
    'home/.config/Code/User/settings.json': '{"editor.fontSize":12,"mcp":{"servers":{"c":{"command":"c"}}}}',
  },
  codex: {
    'home/.codex/config.toml':
      'model = "x"\n[mcp_servers.a]\ncommand = "a"\nenv_vars = ["TOKEN"]\nenv = { B = "b" }\n[mcp_servers.b]\nurl = "https://b.example/mcp"\nbearer_token_env_var = "TOKEN"\nhttp_headers = { "X-A" = "1" }\nenv_http_headers = { "X-B" = "ABSENT" }\n[mcp_servers."c.d"]\nurl = "https://c.example"\nbearer_token_env_var = "TOKEN"\ntool_timeout_sec = 45.0\nenabled = false\ndisabled_tools = ["x"]\n',
  },
  gemini: {
    'home/.gemini/settings.json':
      '{"theme":"x","mcpServers":{"a":{"httpUrl":"https://a.example","headers":{"Authorization":"Bearer $TOKEN"},"trust":true,"includeTools":["t"],"timeout":5000}}}',
  },
  opencode: {
    'home/.config/opencode/opencode.jsonc':
      '{"$schema":"x","mcp":{"a":{"type":"local","command":["bun","x"],"environment":{"K":"{env:TOKEN}"},"enabled":true},"b":{"type":"remote","url":"https://b.example","headers":{"K":"{file:./key}"}}}}',
  },
};

let folder: string;
beforeEach(async () => {
  folder = await makeFolder('kaiwu-hosts-');
  for (const sub of ['home', 'project']) mkdirSync(join(folder, sub));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text.replace('PROJECT', join(folder, 'project')));
  return file;
}
const putAll = (host: HostName) => Object.entries(FILES[host]).map(([path, text]) => put(path, text));

const find = (host: HostName, resolveEnv = false): Promise<HostServers> =>
  findServers(host, {
    home: join(folder, 'home'),
    project: join(folder, 'project'),
    platform: 'linux',
    env: { TOKEN: 'geheim' },
    binary: '/opt/kaiwu/bin/kaiwu',
    resolveEnv,
  });

const namesOf = ({ servers, skipped }: HostServers) => ({
  taken: servers.map(({ config }) => config.name),
  skipped: Object.fromEntries(skipped.map(({ name, reason }) => [name, reason])),
});

describe('the files of a host', () => {
  it('of Claude: the project’s own first, then those of the person and of the desktop program', async () => {
    putAll('claude');
    const found = await find('claude');
    expect(namesOf(found)).toEqual({
      taken: ['shared', 'local', 'mine', 'desk'],
      skipped: { shared: expect.stringContaining('which wins') },
    });
    expect(found.servers[0]!.config).toEqual({
      name: 'shared',
      command: join(folder, 'project/run.sh'),
      args: ['a'],
      cwd: join(folder, 'project'),
    });
    expect(found.servers[2]!.config).toEqual({ name: 'mine', url: 'https://a.example/x' });
  });

  it.each<[HostName, string[], Record<string, unknown>, Record<string, unknown>]>([
    [
      'cursor',
      [],
      {
        a: 'refers to ${env:TOKEN}; --resolve-env fills that in from this shell',
        b: expect.stringContaining('${ABSENT'),
      },
      { a: { command: 'a', env: { K: 'geheim' } }, b: { headers: { X: 'none' } } },
    ],
    [
      'vscode',
      ['c'],
      {
        a: expect.stringContaining('${workspaceFolder}'),
        b: '${input:key} is asked for by the host each time',
      },
      { a: { command: 'a' }, c: { command: 'c' } },
    ],
    [
      'codex',
      [],
      {
        a: expect.stringContaining('${env:TOKEN}'),
        b: '${env:ABSENT} is not set in this shell',
        'c.d': /TOKEN/,
      },
      {
        a: { command: 'a', env: { TOKEN: 'geheim', B: 'b' } },
        'c-d': {
          url: 'https://c.example',
          token: 'geheim',
          timeoutSeconds: 45,
          enabled: false,
          exclude_tools: ['x'],
        },
      },
    ],
    [
      'gemini',
      [],
      { a: expect.stringContaining('$TOKEN') },
      { a: { headers: { Authorization: 'Bearer geheim' }, include_tools: ['t'], timeoutSeconds: 5 } },
    ],
    [
      'opencode',
      [],
      { a: expect.stringContaining('{env:TOKEN}'), b: '{file:./key} is the content of a file' },
      { a: { command: 'bun', args: ['x'], env: { K: 'geheim' } } },
    ],
  ])(
    'of %s: what refers to something is taken when that is asked for',
    async (host, plain, skipped, resolved) => {
      putAll(host);
      const asIs = namesOf(await find(host));
      expect(asIs.taken).toEqual(plain);
      for (const [name, reason] of Object.entries(skipped)) {
        if (reason instanceof RegExp) expect(asIs.skipped[name]).toMatch(reason);
        else expect(asIs.skipped[name]).toEqual(reason);
      }
      expect(JSON.stringify(asIs)).not.toContain('geheim');
      const { servers } = await find(host, true);
      expect(Object.fromEntries(servers.map(({ config }) => [config.name, config]))).toMatchObject(resolved);
    },
  );

  it('that are damaged are named with the place and without their content, and the others are read', async () => {
    const [broken] = [put('project/.cursor/mcp.json', '{\n "mcpServers": {geheim}}')];
    put(
      'home/.cursor/mcp.json',
      '{"mcpServers":{"b":{"command":"b"},"n":{},"x":5,"k":{"command":"hdev","args":["mcp","serve"]}}}',
    );
    const found = await find('cursor');
    expect(namesOf(found)).toEqual({
      taken: ['b'],
      skipped: {
        n: expect.stringContaining('neither url nor command'),
        x: 'is no object',
        k: 'is Kaiwu itself',
      },
    });
    const problem = found.files.find(({ path }) => path === broken)!.problem!;
    expect(problem).toContain('line 2, column 17');
    put('home/.codex/config.toml', 'a = 1\nb = geheim\n');
    const toml = (await find('codex')).files.map((file) => file.problem).join('');
    expect(toml).toContain('line 2, column');
    expect(problem + toml).not.toContain('geheim');
  });

  it.runIf(process.platform === 'linux')(
    'that are none are refused at once: a pipe, a folder, over 4 MiB',
    async () => {
      mkdirSync(join(folder, 'project/.cursor'));
      execFileSync('mkfifo', [join(folder, 'project/.cursor/mcp.json')]);
      mkdirSync(join(folder, 'home/.cursor/mcp.json'), { recursive: true });
      put('home/.gemini/settings.json', `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`);
      const { files } = await find('cursor');
      expect(files.map(({ problem = '' }) => problem)).toEqual([
        expect.stringContaining('regular file'),
        expect.stringContaining('regular file'),
      ]);
      expect((await find('gemini')).files.at(-1)!.problem).toContain('bytes long');
    },
  );
});

describe('mcp servers import', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  }, 90_000);
  afterAll(() => world?.stop(), 60_000);

  const program = { command: process.execPath, args: homeServer('').config.args };
  const env = () => ({ ...world.env, HOME: join(folder, 'home') });
  const importing = (args: string[], input?: string) =>
    world.cli(['mcp', 'servers', 'import', '--project', join(folder, 'project'), ...args], {
      env: env(),
      ...(input === undefined ? {} : { input }),
    });
  const listed = async () => {
    const { json } = await world.cli(['mcp', 'servers', 'list', '--json']);
    return (json.output.servers as { name: string; status: string }[]).map(({ name, status }) => [
      name,
      status,
    ]);
  };
  afterEach(async () => {
    for (const [name = ''] of await listed()) await world.cli(['mcp', 'servers', 'remove', name]);
  });

  it('shows what it would take without a secret, takes it after a yes, and what is known is left alone', async () => {
    const one = { ...program, env: { KEY: 'geheim' } };
    const far = { url: 'https://me:geheim@far.example/geheim', headers: { 'X-Key': 'geheim' } };
    const file = put('home/.cursor/mcp.json', JSON.stringify({ mcpServers: { one, far, two: program } }));
    const before = readFileSync(file, 'utf8');
    const unasked = await importing(['--from', 'cursor']);
    expect(unasked.stdout).toMatch(/far +http +https:\/\/far\.example +headers\.X-Key\n/);
    expect(unasked.stdout).toContain('env.KEY');
    expect(unasked.stderr).toMatch(/^error confirmation_required: Taking these 3 servers[\s\S]*--yes/);
    expect(unasked.stdout + unasked.stderr).not.toContain('geheim');
    const no = await runInTerminal(['mcp', 'servers', 'import', '--from', 'cursor'], {
      env: env(),
      cwd: folder,
      answers: [[/Take these 3 servers\? \[y\/N\] /, 'n\n']],
    });
    expect(no.code).toBe(130);
    expect(await listed()).toEqual([]);
    const taken = await importing(['--from', 'cursor', '--yes', '--json', 'one', 'two']);
    expect(taken.json.output).toMatchObject({
      taken: [
        { name: 'one', status: 'ready', tools: 8 },
        { name: 'two', status: 'ready', tools: 8 },
      ],
      skipped: [],
    });
    const again = await importing(['--from', 'cursor', '--json', 'one']);
    expect(again.json.output).toMatchObject({ taken: [], skipped: [{ name: 'one' }] });
    expect(await listed()).toEqual([
      ['one', 'ready'],
      ['two', 'ready'],
    ]);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('takes a file of many from stdin, and names what is wrong', async () => {
    const text = JSON.stringify([{ name: 'one', ...program }, { name: 'bad', command: 5 }, { name: 'none' }]);
    const { json } = await importing(['--file', '-', '--yes', '--json'], text);
    expect(json.output.taken).toMatchObject([{ name: 'one', status: 'ready' }]);
    expect(json.output.skipped).toHaveLength(2);
    const errors = [
      [[], /--from HOST or --file/],
      [['--from', 'codex'], /No file of codex was found[\s\S]*config\.toml/],
      [['--file', 'nowhere.json'], /nowhere\.json does not exist/],
    ] as const;
    for (const [args, told] of errors) expect((await importing([...args])).stderr).toMatch(told);
    put('home/.gemini/settings.json', '{"mcpServers":{"files":{"command":"a"}}}');
    expect((await importing(['--from', 'gemini', 'filez'])).stderr).toMatch(/no server "filez"[\s\S]*files/);
  });
});
