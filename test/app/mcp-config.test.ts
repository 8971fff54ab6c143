import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, makeHome } from '../helpers/signed-in.ts';

let home: Home;
beforeAll(async () => {
  home = await makeHome();
});
afterAll(() => home.remove());

interface Started {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** What each host reads out of its own format. */
const READERS: Record<string, (text: string) => Started> = {
  claude: (text) => JSON.parse(text).mcpServers.kaiwu,
  cursor: (text) => JSON.parse(text).mcpServers.kaiwu,
  gemini: (text) => JSON.parse(text).mcpServers.kaiwu,
  vscode: (text) => JSON.parse(text).servers.kaiwu,
  zed: (text) => JSON.parse(text).context_servers.kaiwu,
  opencode: (text) => {
    const { command, environment } = JSON.parse(text).mcp.kaiwu;
    return { command: command[0], args: command.slice(1), env: environment };
  },
  codex: (text) => {
    expect(text).toMatch(/^\[mcp_servers\.kaiwu\]$/m);
    const value = (key: string) => new RegExp(`^${key} = (.*)$`, 'm').exec(text)?.[1] ?? '';
    return {
      command: JSON.parse(value('command')),
      args: JSON.parse(value('args')),
      env: JSON.parse(value('env').replaceAll(/(\w+) = /g, '"$1": ')),
    };
  },
};

describe('mcp config', () => {
  it.each(Object.keys(READERS))('%s can start what is printed for it', async (host) => {
    const { stdout, code } = await home.cli(['mcp', 'config', '--host', host]);
    expect(code).toBe(0);
    const { command, args, env } = READERS[host]!(stdout);
    expect(isAbsolute(command) && existsSync(command)).toBe(true);
    expect(args.slice(-2)).toEqual(['mcp', 'serve']);
    expect(env).toEqual({ KAIWU_HOME: home.home });
    // A host's bare environment is enough; nobody is signed in here, which it says.
    const started = spawnSync(command, args, {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
      input: '',
    });
    expect([started.status, String(started.stdout)]).toEqual([4, '']);
    expect(String(started.stderr)).toContain('not_authenticated');
  });

  it('passes the choice of a backend and a session on', async () => {
    const { json } = await home.cli([
      'mcp',
      'config',
      '--server',
      'company',
      '--session',
      'sess_1',
      '--json',
    ]);
    const { args } = JSON.parse(json.output.config).mcpServers.kaiwu;
    expect(args.slice(-6)).toEqual(['--server', 'company', '--session', 'sess_1', 'mcp', 'serve']);
  });

  it('a host that nobody knows is refused with those that are', async () => {
    const { stderr, code } = await home.cli(['mcp', 'config', '--host', 'emacs']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/host must be one of claude, cursor/)]);
  });
});
