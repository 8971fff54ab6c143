import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KAIWU, runKaiwu } from '../../helpers/kaiwu.ts';
import { type Home, makeHome, signIn } from '../../helpers/signed-in.ts';
import { type FakeBackend, startFakeBackend, TOKEN } from './helpers/fake-backend.ts';
import { type Host, startHost } from './helpers/host.ts';
import { MANIFESTS, TOOL_COUNT } from './helpers/manifests.ts';

let home: Home;
let backend: FakeBackend;
let cleanups: (() => Promise<unknown>)[];

beforeEach(async () => {
  home = await makeHome();
  backend = await startFakeBackend(MANIFESTS);
  cleanups = [() => home.remove(), () => backend.stop()];
});

afterEach(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

/** A host that started the real command. */
function serve(args: string[] = [], env: Record<string, string> = {}): Host {
  const host = startHost([process.execPath, KAIWU, ...args, 'mcp', 'serve'], '', { ...home.env, ...env });
  cleanups.push(() => host.kill());
  return host;
}

/** Runs the command with a host that never closes its input. */
async function failure(args: string[] = [], env: Record<string, string> = {}) {
  const host = serve(args, env);
  const { code } = await host.exit();
  expect(host.noise()).toEqual([]);
  expect(host.lines).toEqual([]);
  return { code, stderr: host.stderr() };
}

describe('kaiwu mcp serve without what it needs', () => {
  test('ends at once with not_authenticated and the command to run', async () => {
    const fresh = await failure();
    expect(fresh).toEqual({
      code: 4,
      stderr: expect.stringMatching(/^not_authenticated: [^\n]*auth login[^\n]*\n$/),
    });
    await home.cli(['server', 'add', 'local', backend.url, '--use']);
    const added = await failure();
    expect(added).toEqual({
      code: 4,
      stderr: expect.stringMatching(/^not_authenticated: [^\n]*auth login[^\n]*\n$/),
    });
    expect(backend.requests).toEqual([]);
  });

  test('says what is wrong: a damaged file, an unknown profile, a bad flag, no home', async () => {
    await signIn(home, 'local', backend.url, TOKEN);
    expect(await failure(['--server', 'nowhere'])).toEqual({
      code: 5,
      stderr: expect.stringMatching(/^not_found: .*nowhere.*local/),
    });
    expect(await failure(['--serverurl=x'])).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^invalid_input: .*serverurl/),
    });
    await writeFile(home.path('profiles/local/credentials.json'), '{"token":');
    const damaged = await failure();
    expect(damaged.code).toBe(1);
    expect(damaged.stderr).toMatch(/^state_damaged: .*credentials\.json/);
    await writeFile(home.path('config.json'), '{"version":1,"machineId"');
    const config = await failure();
    expect(config.code).toBe(1);
    expect(config.stderr).toMatch(/^state_damaged: .*config\.json/);
    const homeless = await failure([], { KAIWU_HOME: '', HOME: '/' });
    expect(homeless.code).not.toBe(0);
    expect(homeless.stderr).toMatch(/^state_damaged: /);
  });
});

describe('kaiwu mcp serve', () => {
  beforeEach(() => signIn(home, 'local', backend.url, TOKEN));

  test('serves the active profile, and keeps the tools seen in a private file of it', async () => {
    const host = serve();
    await host.initialize();
    expect((await host.request('tools/list')).result.tools.length).toBeGreaterThan(0);
    const { result } = await host.request('tools/call', { name: 'session_list' });
    expect(result.isError).toBeUndefined();
    const { machineId } = JSON.parse(await readFile(home.path('config.json'), 'utf8'));
    expect(backend.calls[0]?.context).toMatchObject({ surface: 'mcp', machineId });
    host.child.stdin?.end();
    expect((await host.exit()).code).toBe(0);
    const kept = home.path('profiles/local/tools-mcp.json');
    expect((await stat(kept)).mode & 0o777).toBe(0o600);
    await backend.stop();
    const later = serve();
    await later.initialize();
    expect((await later.request('tools/list')).result.tools.length).toBe(TOOL_COUNT);
    await rm(kept);
    const builtin = serve();
    await builtin.initialize();
    expect((await builtin.request('tools/list')).result.tools.length).toBeGreaterThan(20);
  });

  test('reads no environment variable that chooses a backend', async () => {
    const other = await startFakeBackend(MANIFESTS);
    cleanups.push(() => other.stop());
    await signIn(home, 'other', other.url, TOKEN);
    await home.cli(['server', 'use', 'local']);
    const host = serve([], {
      KAIWU_SERVER: 'other',
      KAIWU_SERVER_URL: other.url,
      HAPPIER_SERVER_URL: other.url,
    });
    await host.initialize();
    await host.request('tools/call', { name: 'session_list' });
    expect(backend.calls).toHaveLength(1);
    expect(other.requests).toEqual([]);
  });

  test('takes the backend from flags, before or after its name, and stays with it', async () => {
    const other = await startFakeBackend(MANIFESTS);
    cleanups.push(() => other.stop());
    await signIn(home, 'other', other.url, TOKEN);
    await home.cli(['server', 'use', 'local']);
    for (const flags of [['--server', 'other'], ['--server=other'], ['--server-url', other.url]]) {
      const host = serve(flags);
      await host.initialize();
      await host.request('tools/call', { name: 'session_list' });
    }
    expect(other.calls).toHaveLength(3);
    const host = startHost([process.execPath, KAIWU, 'mcp', 'start', '--session', 'sess_1'], '', home.env);
    cleanups.push(() => host.kill());
    await host.initialize();
    await host.request('tools/call', { name: 'session_list' });
    expect([...new Set(backend.calls.map(({ context }) => context.sessionId))]).toEqual(['sess_1']);
    // The profile that becomes active later is for hosts that start later.
    await home.cli(['server', 'use', 'other']);
    await backend.stop();
    const down = await host.request('tools/call', { name: 'session_list' });
    expect(down.result.structuredContent.error.code).toBe('backend_unreachable');
    expect(other.calls).toHaveLength(3);
  });

  test('finds the backend again where the profile says now, with the sign-in of now', async () => {
    const host = serve();
    await host.initialize();
    await host.request('tools/list');
    await backend.stop();
    const down = await host.request('tools/call', { name: 'session_list' });
    expect(down.result.structuredContent.error.code).toBe('backend_unreachable');
    await backend.start();
    await home.cli(['server', 'remove', 'local']);
    await signIn(home, 'local', backend.url, TOKEN);
    const { result } = await host.request('tools/call', { name: 'session_list' });
    expect(result.isError).toBeUndefined();
  });

  test('writes nothing but the protocol with every log and warning on', async () => {
    const env = {
      KAIWU_LOG: 'debug',

      NODE_OPTIONS: '--trace-warnings --pending-deprecation',
    };
    const host = serve([], env);
    await host.initialize();
    await host.request('tools/list');
    await host.request('tools/call', { name: 'session_list' });
    host.child.kill('SIGTERM');
    expect((await host.exit()).code).toBe(0);
    expect(host.noise()).toEqual([]);
    expect(host.stderr()).not.toContain(TOKEN.slice(0, 8));
  });

  test('tells of its help without serving', async () => {
    const { code, stdout } = await runKaiwu(['mcp', 'serve', '--help'], { env: home.env });
    expect(code).toBe(0);
    expect(stdout).toContain('mcp serve');
  });

  test('does not mind a folder where nothing can be kept', async () => {
    await mkdir(home.path('profiles/local/tools-mcp.json'));
    const host = serve();
    await host.initialize();
    expect((await host.request('tools/list')).result.tools.length).toBe(TOOL_COUNT);
  });
});
