import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersWith, sendJson, startFakeBackend } from '../helpers/fake-backend.ts';
import { KAIWU } from '../helpers/kaiwu.ts';
import { type Home, makeHome, signIn } from '../helpers/signed-in.ts';
import { startWorld, type World } from '../helpers/world.ts';

let world: World;
let other: Home;
beforeAll(async () => {
  world = await startWorld();
  other = await makeHome();
});
afterAll(async () => {
  await world.stop();
  await other.remove();
});

/** `auth login` on the other machine, up to the code that it shows. */
async function beginLogin() {
  const child = spawn(process.execPath, [KAIWU, 'auth', 'login', '--server-url', world.url, '--json'], {
    env: other.env,
    cwd: other.home,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (part) => (said.stdout += part));
  const code = new Promise<string>((resolve) => {
    child.stderr.on('data', (part) => {
      said.stderr += part;
      const shown = /auth approve (\S+)/.exec(said.stderr)?.[1];
      if (shown !== undefined) resolve(shown);
    });
  });
  const closed = once(child, 'close');
  return { code: await code, child, said, ended: closed.then(([exit]) => exit as number) };
}

describe('another machine', () => {
  it('signs in with a code that a signed-in machine approves, and out again', async () => {
    const { code, said, ended } = await beginLogin();
    expect(code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
    expect(said.stderr).toContain(world.url);
    const approved = await world.cli(['auth', 'approve', code, '--json']);
    expect(approved.json).toMatchObject({ status: 'ok', output: { deviceName: expect.any(String) } });
    expect(await ended).toBe(0);
    const { output } = JSON.parse(said.stdout);
    expect(output).toMatchObject({ profile: 'local', url: world.url, store: 'file' });

    // From now on without any flag.
    expect((await other.cli(['session', 'list', '--json'])).json.status).toBe('ok');
    const status = (await other.cli(['auth', 'status', '--json'])).json.output;
    expect(status).toMatchObject({ signedIn: true, deviceId: output.deviceId, daemon: { state: 'stopped' } });

    const file = other.path('profiles/local/credentials.json');
    const { token } = JSON.parse(await readFile(file, 'utf8'));
    expect((await other.cli(['auth', 'logout', '--json'])).json.output).toMatchObject({ revoked: true });
    await expect(stat(file)).rejects.toThrow('ENOENT');
    const response = await fetch(`${world.url}/v1/whoami`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(401);
    expect((await other.cli(['session', 'list'])).code).toBe(4);
    expect((await other.cli(['auth', 'logout', '--json'])).json.output.note).toBe('Nobody was signed in.');
  });

  it('that is revoked is told that its sign-in does not work, and how to mend it', async () => {
    const { code, said, ended } = await beginLogin();
    await world.cli(['auth', 'approve', code]);
    expect(await ended).toBe(0);
    const { deviceId } = JSON.parse(said.stdout).output;
    expect((await world.cli(['device', 'revoke', deviceId, '--json'])).json.status).toBe('ok');
    const status = (await other.cli(['auth', 'status', '--json'])).json.output;
    expect(status).toMatchObject({
      signedIn: false,
      store: 'file',
      problem: expect.stringMatching(/^not_authenticated/),
    });
    const listed = await other.cli(['session', 'list', '--json']);
    expect([listed.code, listed.json.error.code]).toEqual([4, 'not_authenticated']);
  });

  it('that signs in again leaves no earlier sign-in behind', async () => {
    const devices: string[] = [];
    for (let i = 0; i < 2; i++) {
      const { code, said, ended } = await beginLogin();
      await world.cli(['auth', 'approve', code]);
      expect(await ended).toBe(0);
      devices.push(JSON.parse(said.stdout).output.deviceId);
    }
    const { output } = (await other.cli(['device', 'list', '--json'])).json;
    const revoked = (id: string) =>
      output.devices.find(({ deviceId }: { deviceId: string }) => deviceId === id).revokedAt !== undefined;
    expect(devices.map(revoked)).toEqual([true, false]);
  });

  it('gives up with Ctrl-C', async () => {
    const { child, ended, said } = await beginLogin();
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(JSON.parse(said.stdout).error.code).toBe('canceled');
  });

  it.each(['WRONG-CODE', 'x'])('the code %s approves nobody', async (code) => {
    const { json } = await world.cli(['auth', 'approve', code, '--json']);
    expect(json.status).toBe('error');
  });

  it('with a wrong invitation is refused', async () => {
    const line = ['auth', 'login', '--server-url', world.url, '--invite', 'guessed', '--json'];
    const { json, code } = await other.cli(line);
    expect([json.error.code, code]).toEqual(['not_authenticated', 4]);
  });
});

describe('servers', () => {
  it('are added, listed, tested, used and removed', async () => {
    const home = await makeHome();
    const run = async (...args: string[]) => (await home.cli(['server', ...args, '--json'])).json;
    await run('add', 'company', 'https://kaiwu.example.com/api/', '--webapp-url', 'https://app.example.com');
    await run('add', 'here', world.url);
    expect((await run('list')).output.servers).toEqual([
      {
        name: 'company',
        active: true,
        url: 'https://kaiwu.example.com/api',
        webappUrl: 'https://app.example.com',
      },
      { name: 'here', active: false, url: world.url },
    ]);
    expect((await run('test', 'here')).output).toMatchObject({ name: 'here', ready: true, signedIn: false });
    expect((await run('use', 'here')).output).toMatchObject({ name: 'here', url: world.url });
    expect((await run('current')).output).toEqual({ name: 'here', url: world.url });
    expect(
      (await home.cli(['server', 'current', '--json'], { env: { KAIWU_SERVER: 'company' } })).json.output
        .name,
    ).toBe('company');
    expect((await run('add', 'here', 'https://other.example')).error).toMatchObject({ code: 'conflict' });
    expect((await run('add', '../evil', 'https://x.example')).error).toMatchObject({ code: 'invalid_input' });
    expect((await run('add', 'plain', 'http://x.example')).error.message).toContain('plain http');
    expect((await run('remove', 'here')).output).toEqual({ removed: 'here', url: world.url });
    expect((await run('current')).error.code).toBe('not_authenticated');
    await home.remove();
  });

  it('a backend that is older than this command says so', async () => {
    const error = {
      code: 'unknown_action',
      message: 'There is no action "session.list".',
      details: { received: 'session.list' },
      retryable: false,
    };
    const backend = await startFakeBackend((request, ...rest) => {
      if (request.url !== '/v1/whoami') return answersWith({ status: 'error', error }, 404)(request, ...rest);
      const who = { serverId: 's', backendVersion: '0.0.9', tokenId: 't', kind: 'device' };
      return sendJson(rest[0], 200, who);
    });
    const home = await makeHome();
    await signIn(home, 'old', backend.url);
    const { json, code } = await home.cli(['session', 'list', '--json']);
    expect(code).toBe(5);
    expect(json.error.hint).toMatch(/is version 0\.0\.9, this command is 0\.1\.0: update the older one/);
    await backend.close();
    await home.remove();
  });
});

describe('no environment variable chooses the backend of a host', () => {
  it('mcp serve ignores KAIWU_SERVER_URL, other commands read it', async () => {
    const backend = await startFakeBackend(answersWith({ status: 'ok', output: {} }));
    const env = { KAIWU_SERVER_URL: backend.url };
    expect((await other.cli(['server', 'current', '--json'], { env })).json.output.url).toBe(backend.url);
    const home = await makeHome();
    const { code, stdout, stderr } = await home.cli(['mcp', 'serve'], { env });
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain('not_authenticated');
    expect(backend.requests).toEqual([]);
    await backend.close();
    await home.remove();
  });
});
