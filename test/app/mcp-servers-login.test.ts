import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { KAIWU } from '../helpers/kaiwu.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { type OAuthWorld, startOAuthWorld } from '../managed/oauth-fakes.ts';

/** A stand-in for the program that opens addresses: it notes its command line and is sent on. */
const OPENER = `#!/usr/bin/env node
const { writeFileSync } = require('node:fs');
writeFileSync(process.env.NOTE + '.argv', process.argv.join('\\n'));
fetch(process.argv[2], { redirect: 'manual' }).then(({ headers }) =>
  writeFileSync(process.env.NOTE, headers.get('location') ?? 'nowhere'));
`;

let world: World;
let peers: OAuthWorld;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  world = await startWorld();
  const tools = join(world.home, 'tools');
  mkdirSync(tools);
  writeFileSync(join(tools, 'xdg-open'), OPENER);
  chmodSync(join(tools, 'xdg-open'), 0o755);
}, 90_000);
afterAll(() => world?.stop(), 60_000);

beforeEach(async () => {
  peers = await startOAuthWorld();
  await world.cli(['mcp', 'servers', 'add', 'home', '--url', peers.mcp.url]);
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await world.cli(['mcp', 'servers', 'remove', 'home']);
  await peers.close();
});

/** Begins a sign-in in the command line. */
function login(args: string[] = ['--no-open'], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [KAIWU, 'mcp', 'servers', 'login', 'home', '--json', ...args], {
    env: { ...world.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => (told += part));
  const outcome = (async () => {
    const out = await text(child.stdout);
    running.delete(child);
    return JSON.parse(out) as { status: string; output?: unknown; error?: { code: string; hint?: string } };
  })();
  return {
    child,
    outcome,
    told: () => told,
    link: () => vi.waitFor(() => /^(http\S+)$/m.exec(told)?.[1] ?? expect.fail(told), { timeout: 30_000 }),
  };
}

/** The address that the browser comes back to, with changes. */
function backTo(link: string, answer: Record<string, string>): URL {
  const back = new URL(new URL(link).searchParams.get('redirect_uri')!);
  for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
  return back;
}

const stateOf = (link: string) => new URL(link).searchParams.get('state')!;

describe('mcp servers login', () => {
  it('waits for the browser at an address of this machine, good once, and the server is ready', async () => {
    const before = await world.cli(['mcp', 'servers', 'list']);
    expect(before.stdout).toMatch(/home +sign_in_needed[\s\S]*mcp servers login home\n/);
    const { link, outcome, told } = login();
    const shown = await link();
    const back = backTo(shown, peers.auth.consent(shown));
    expect(back.hostname).toBe('127.0.0.1');
    expect(told()).toContain(`port ${back.port}`);
    const page = await fetch(back);
    expect(await page.text()).toContain('You are signed in to home');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(await outcome).toMatchObject({ status: 'ok', output: { name: 'home', status: 'ready' } });
    await expect(fetch(back)).rejects.toThrow('fetch failed');
    const list = await world.cli(['mcp', 'servers', 'list', '--json']);
    expect(list.json.output.servers).toMatchObject([{ name: 'home', status: 'ready' }]);
    const code = back.searchParams.get('code')!;
    expect(list.stdout + world.output().stderr + world.output().stdout).not.toContain(code);
  });

  it('turns away everything but the one answer, and goes on waiting', async () => {
    const { link, outcome } = login();
    const shown = await link();
    const good = backTo(shown, peers.auth.consent(shown));
    const statusOf = async (address: URL, init?: RequestInit) => (await fetch(address, init)).status;
    const other = (change: (address: URL) => void) => {
      const address = new URL(good);
      change(address);
      return statusOf(address);
    };
    expect(await other(({ searchParams }) => searchParams.set('state', 'another'))).toBe(400);
    expect(await other(({ searchParams }) => searchParams.delete('state'))).toBe(404);
    expect(await other(({ searchParams }) => searchParams.delete('code'))).toBe(404);
    expect(await other((address) => (address.pathname = '/'))).toBe(404);
    expect(await other((address) => (address.hostname = 'localhost')).catch(() => 404)).toBe(404);
    for (const method of ['POST', 'HEAD', 'PUT']) expect(await statusOf(good, { method })).toBe(404);
    expect(await statusOf(good)).toBe(200);
    expect(await outcome).toMatchObject({ status: 'ok' });
  });

  it('says so when the person refuses', async () => {
    const { link, outcome } = login();
    const shown = await link();
    const page = await fetch(backTo(shown, { state: stateOf(shown), error: 'access_denied' }));
    expect(await page.text()).toContain('The sign-in failed');
    expect(await outcome).toMatchObject({ status: 'error', error: { code: 'access_denied' } });
  });

  it('ends when nobody comes, or the person gives up', async () => {
    const late = await login(['--no-open', '--timeout-seconds', '1']).outcome;
    expect(late.error).toMatchObject({ code: 'timeout', hint: expect.stringContaining('--no-open') });
    const { child, link, outcome } = login();
    await link();
    child.kill('SIGINT');
    expect((await outcome).error).toMatchObject({ code: 'canceled' });
  });

  it.runIf(process.platform === 'linux')(
    'opens the browser with a command line that says nothing',
    async () => {
      const note = join(world.home, 'note');
      const { outcome } = login([], {
        PATH: `${join(world.home, 'tools')}${delimiter}${world.env.PATH}`,
        NOTE: note,
      });
      const shown = await vi.waitFor(() => readFileSync(note, 'utf8') || expect.fail('empty'), {
        timeout: 30_000,
      });
      expect(readFileSync(`${note}.argv`, 'utf8')).not.toContain(stateOf(shown));
      await fetch(backTo(shown, peers.auth.consent(shown)));
      expect(await outcome).toMatchObject({ status: 'ok' });
    },
  );

  it('is not for a server that has no sign-in', async () => {
    await world.cli(['mcp', 'servers', 'add', 'prog', '--', 'no-such-program']);
    const { json } = await world.cli(['mcp', 'servers', 'login', 'prog', '--no-open', '--json']);
    await world.cli(['mcp', 'servers', 'remove', 'prog']);
    expect(json.error).toMatchObject({ code: 'unsupported' });
    const { json: nobody } = await world.cli(['mcp', 'servers', 'login', 'nobody', '--json']);
    expect(nobody.error).toMatchObject({ code: 'mcp_server_not_found' });
  });
});
