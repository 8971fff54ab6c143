import { cp, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CredentialMode, type Credentials, createCredentialStore } from '../../src/local/credentials.ts';
import { type ProfilePaths, toHomePaths } from '../../src/local/home.ts';
import { createKeyring } from '../../src/local/keyring.ts';
import { type FakeBackend, sendJson, startFakeBackend } from '../helpers/fake-backend.ts';
import { KAIWU, runKaiwu } from '../helpers/kaiwu.ts';
import { type Home, makeHome } from '../helpers/signed-in.ts';

const CANARY = 'kw_canary_51ba3c0ffee';
const SECRET: Credentials = { token: CANARY, url: 'https://a.example', deviceId: 'dev_1' };

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

/** A store whose keyring is a small program of the test: it keeps one file, fails, or never answers. */
function makeStore(behaviour: 'works' | 'fails' | 'hangs', mode: CredentialMode = 'auto') {
  const paths: ProfilePaths = toHomePaths(home.home).profile('a');
  const notices: string[] = [];
  const command = [
    process.execPath,
    join(import.meta.dirname, 'fakes/keyring.mjs'),
    behaviour,
    home.path('vault.json'),
  ];
  const store = createCredentialStore({
    paths,
    mode,
    keyring: createKeyring(command, behaviour === 'hangs' ? 500 : 20_000),
    notice: (line) => notices.push(line),
  });
  return { store, paths, notices };
}

describe('credentials', () => {
  it('go to the keyring when it proves to work, and nowhere else', async () => {
    const { store, paths, notices } = makeStore('works');
    expect(await store.read()).toBeUndefined();
    expect(await store.write(SECRET)).toBe('keyring');
    expect([await store.read(), await store.place(), notices]).toEqual([SECRET, 'keyring', []]);
    await expect(stat(paths.credentials)).rejects.toThrow('ENOENT');
    await store.clear();
    expect([await store.read(), await store.place()]).toEqual([undefined, undefined]);
    expect(JSON.parse(await readFile(home.path('vault.json'), 'utf8'))).toEqual({});
  });

  it.each(['fails', 'hangs'] as const)(
    'go to a 0600 file when the keyring %s, with one line that says so',
    async (behaviour) => {
      const { store, paths, notices } = makeStore(behaviour);
      expect(await store.write(SECRET)).toBe('file');
      expect(notices).toHaveLength(1);
      expect(notices[0]).toContain(paths.credentials);
      expect(notices[0]).not.toContain('\n');
      expect((await stat(paths.credentials)).mode & 0o777).toBe(0o600);
      expect(await store.read()).toEqual(SECRET);
    },
  );

  it('a keyring that fails later is an error, never "signed out", and nothing is lost', async () => {
    await makeStore('works').store.write(SECRET);
    for (const behaviour of ['fails', 'hangs'] as const) {
      await expect(makeStore(behaviour).store.read()).rejects.toMatchObject({ code: 'state_damaged' });
    }
    expect(await makeStore('works').store.read()).toEqual(SECRET);
  });

  it('a keyring that appears later is used from the next sign-in on, and the file goes', async () => {
    await makeStore('fails').store.write(SECRET);
    const { store, paths } = makeStore('works');
    expect([await store.place(), await store.read()]).toEqual(['file', SECRET]);
    expect(await store.write({ ...SECRET, token: 'kw_second' })).toBe('keyring');
    await expect(stat(paths.credentials)).rejects.toThrow('ENOENT');
    expect((await store.read())?.token).toBe('kw_second');
  });

  it('the mode decides where they go, not where they are read', async () => {
    await expect(makeStore('fails', 'keyring').store.write(SECRET)).rejects.toMatchObject({
      code: 'state_damaged',
    });
    expect(await makeStore('works', 'file').store.write(SECRET)).toBe('file');
    expect(await makeStore('works', 'keyring').store.read()).toEqual(SECRET);
  });

  it('two homes and two profiles do not share a keyring entry', async () => {
    await makeStore('works').store.write(SECRET);
    const accounts = Object.keys(JSON.parse(await readFile(home.path('vault.json'), 'utf8')));
    expect(accounts).toEqual([home.path('profiles', 'a')]);
  });

  it.each(['', '{"token":', '{"token":"","url":"x"}'])(
    'a damaged file %j is an error that does not quote it',
    async (text) => {
      const { store, paths } = makeStore('works');
      await mkdir(paths.folder, { recursive: true, mode: 0o700 });
      await writeFile(paths.credentials, text, { mode: 0o600 });
      await expect(store.read()).rejects.toMatchObject({
        code: 'state_damaged',
        message: expect.stringContaining(paths.credentials),
      });
      expect(await readFile(paths.credentials, 'utf8')).toBe(text);
    },
  );
});

describe('signing in without a usable keyring', () => {
  let backend: FakeBackend;
  beforeAll(async () => {
    backend = await startFakeBackend((request, response) => {
      if (request.url === '/v1/auth/bootstrap') {
        return sendJson(response, 200, {
          token: CANARY,
          deviceId: 'dev_1',
          tokenId: 'tok_1',
          serverId: 'srv',
        });
      }
      sendJson(response, 200, { serverId: 'srv', backendVersion: '0.1.0', tokenId: 'tok_1', kind: 'device' });
    });
  });
  afterAll(() => backend.close());

  const login = (env: Record<string, string | undefined>, command?: string[]) =>
    runKaiwu(['auth', 'login', '--server-url', backend.url, '--invite', 'S3CRET', '--json'], {
      env: { ...home.env, KAIWU_CREDENTIAL_STORE: undefined, ...env },
      cwd: home.home,
      ...(command && { command }),
    });

  const expectInFile = async (result: Awaited<ReturnType<typeof login>>) => {
    expect(result.code).toBe(0);
    expect(result.json.output.store).toBe('file');
    const file = home.path('profiles', result.json.output.profile, 'credentials.json');
    expect(result.stderr.trim().split('\n')).toEqual([expect.stringContaining(file)]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(result.stdout + result.stderr).not.toContain(CANARY.slice(0, 8));
  };

  it('works without D-Bus', async () => {
    const result = await login({ DBUS_SESSION_BUS_ADDRESS: undefined, XDG_RUNTIME_DIR: home.home });
    await expectInFile(result);
    expect(result.stderr).toMatch(/D-?Bus/i);
  });

  it('gives up after 5 s on a secret service that never answers', async () => {
    const socket = home.path('bus');
    const bus = createServer(() => undefined);
    await new Promise<void>((resolve) => bus.listen(socket, resolve));
    const result = await login({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket}` });
    await expectInFile(result);
    expect(result.stderr).toContain('did not answer within 5 s');
    expect(result.ms).toBeLessThan(30_000);
    bus.close();
  });

  it('works where the native module is not installed', async () => {
    const root = join(KAIWU, '../..');
    const copy = home.path('installed');
    for (const name of ['bin', 'dist', 'package.json'])
      await cp(join(root, name), join(copy, name), { recursive: true });
    await mkdir(join(copy, 'node_modules'));
    await symlink(join(root, 'node_modules/@photostructure'), join(copy, 'node_modules/@photostructure'));
    const result = await login({}, [process.execPath, join(copy, 'bin/kaiwu')]);
    await expectInFile(result);
    expect(result.stderr).toContain("Cannot find module '@napi-rs/keyring'");
    await rm(copy, { recursive: true });
  });

  it('auth status names the store, and a wrong KAIWU_CREDENTIAL_STORE is refused by name', async () => {
    await login({ KAIWU_CREDENTIAL_STORE: 'file' });
    const { json } = await home.cli(['auth', 'status', '--json']);
    expect(json.output).toMatchObject({ store: 'file', signedIn: true, url: backend.url });
    const wrong = await login({ KAIWU_CREDENTIAL_STORE: 'vault' });
    expect([wrong.code, wrong.json.error.message]).toEqual([2, 'KAIWU_CREDENTIAL_STORE is "vault".']);
  });
});
