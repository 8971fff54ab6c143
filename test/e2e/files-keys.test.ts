import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KAIWU } from '../helpers/kaiwu.ts';
import { type Home, makeHome } from '../helpers/signed-in.ts';
import { type FilesWorld, startFilesWorld } from './helpers/files-world.ts';

let world: FilesWorld;
let fileId: string;
const homes: Home[] = [];
beforeAll(async () => {
  world = await startFilesWorld();
  await writeFile(join(world.workspace, 'letter.txt'), 'a letter');
  fileId = String((await world.ok('file.send', { sessionId: world.sessionId, path: 'letter.txt' })).fileId);
}, 90_000);
afterAll(async () => {
  await world?.stop();
  for (const home of homes) await home.remove();
  await rm(world?.workspace, { recursive: true, force: true });
}, 60_000);

const newHome = async (): Promise<Home> => {
  const home = await makeHome();
  homes.push(home);
  return home;
};

/** `auth login` on another device, up to the code that it shows. */
async function beginLogin(home: Home) {
  const child = spawn(process.execPath, [KAIWU, 'auth', 'login', '--server-url', world.url, '--json'], {
    env: home.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (part) => (stdout += part));
  const shown = new Promise<{ code: string; keyCheck: string }>((resolve) => {
    child.stderr.on('data', (part) => {
      stderr += part;
      const code = /auth approve (\S+)/.exec(stderr)?.[1];
      const keyCheck = /--key-check (\S+)/.exec(stderr)?.[1];
      if (code !== undefined && keyCheck !== undefined) resolve({ code, keyCheck });
    });
  });
  const closed = once(child, 'close');
  return {
    ...(await shown),
    async output() {
      await closed;
      return JSON.parse(stdout).output as Record<string, unknown>;
    },
  };
}

const canRead = async (home: Pick<Home, 'cli' | 'home'>): Promise<string> => {
  const path = join(home.home, `got-${Math.random()}`);
  const { json } = await home.cli(['file', 'get', fileId, '--output', path, '--json']);
  return json.status === 'ok' ? readFile(path, 'utf8') : json.error.code;
};

describe('the key of the account', () => {
  it('is made at the first sign-in, readable by its owner alone', async () => {
    const path = join(world.home, 'profiles/local/identity.json');
    expect(await readFile(path, 'utf8')).toMatch(/"AGE-SECRET-KEY-1[A-Z0-9]+"/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('reaches another device with the code, and the backend never has it', async () => {
    const home = await newHome();
    const login = await beginLogin(home);
    const wrong = await world.cli(['auth', 'approve', login.code, '--key-check', '0000-0000-0000', '--json']);
    expect(wrong.json.error.code).toBe('access_denied');
    const line = ['auth', 'approve', login.code, '--key-check', login.keyCheck, '--json'];
    expect((await world.cli(line)).stderr).toContain(
      `handed over to the device with the key check ${login.keyCheck}`,
    );
    expect(await login.output()).toMatchObject({ filesKey: 'here' });
    expect(await canRead(home)).toBe('a letter');
    const [own, theirs] = await Promise.all(
      [world.home, home.home].map((folder) => readFile(join(folder, 'profiles/local/identity.json'), 'utf8')),
    );
    expect(theirs).toBe(own);
    const { identity } = JSON.parse(own!) as { identity: string };
    for (const name of ['kaiwu.db', 'kaiwu.db-wal']) {
      const bytes = await readFile(join(world.home, 'backend', name)).catch(() => Buffer.alloc(0));
      expect(bytes.includes(identity)).toBe(false);
    }
  });

  it('is not had by a device that signed in without one, until the recovery phrase is typed', async () => {
    const home = await newHome();
    const { secret } = JSON.parse(await readFile(join(world.home, 'backend/bootstrap.json'), 'utf8'));
    const line = ['auth', 'login', '--server-url', world.url, '--invite', secret, '--json'];
    expect((await home.cli(line)).json.output.filesKey).toMatch(/^missing/);
    expect(await canRead(home)).toBe('not_found');
    expect((await home.cli(['file', 'list', '--json'])).json.output.files[0]).toMatchObject({
      problem: 'this machine lacks the key',
    });

    const shown = (await world.cli(['auth', 'recovery', 'show', '--json'])).json.output.words as string;
    expect(shown.split(' ')).toHaveLength(24);
    expect((await world.cli(['auth', 'recovery', 'show', '--json'])).json.error.code).toBe('conflict');
    const again = (await world.cli(['auth', 'recovery', 'show', '--again', '--json'])).json.output.words;
    expect(again).toBe(shown);

    const restore = async (input: string) =>
      (await home.cli(['auth', 'recovery', 'restore', '--json'], { input })).json;
    const words = shown.split(' ');
    const swapped = [words[1], words[0], ...words.slice(2)].join(' ');
    for (const bad of ['', words.slice(1).join(' '), swapped, shown.replace(words[3]!, 'kaiwu')]) {
      expect((await restore(bad)).error?.code).toBe('invalid_input');
    }
    const stranger =
      'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon art';
    expect((await restore(stranger)).error?.code).toBe('conflict');
    expect(await restore(`  ${shown.toUpperCase().replaceAll(' ', '\n ')}\n`)).toMatchObject({
      status: 'ok',
    });
    expect(await canRead(home)).toBe('a letter');

    expect((await home.cli(['auth', 'logout', '--json'])).json.status).toBe('ok');
    expect(await stat(home.path('profiles/local/identity.json'))).toBeDefined();
    expect((await home.cli(['auth', 'logout', '--forget-key', '--json'])).json.status).toBe('ok');
    await expect(stat(home.path('profiles/local/identity.json'))).rejects.toThrow('ENOENT');
  });

  it('that the backend swaps for its own gets no file: the machine knows the right one', async () => {
    const path = join(world.home, 'profiles/local/recipient.json');
    const mine = await readFile(path, 'utf8');
    const other = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
    await writeFile(path, JSON.stringify({ recipient: other }), { mode: 0o600 });
    const envelope = await world.send({ path: 'letter.txt' });
    await writeFile(path, mine, { mode: 0o600 });
    expect(envelope).toMatchObject({ error: { code: 'conflict' } });
  });

  it('is for signed-in devices: limited tokens and strangers get neither key nor content', async () => {
    const { token } = await world.ok('token.create', { name: 'limited', surfaces: ['cli'] });
    const status = async (path: string, method: string, bearer?: string) => {
      const headers = bearer === undefined ? undefined : { authorization: `Bearer ${bearer}` };
      const body = method === 'GET' ? undefined : '{}';
      return (await fetch(world.url + path, { method, body, headers })).status;
    };
    for (const [path, method] of [
      ['/v1/account/key', 'GET'],
      ['/v1/account/key', 'PUT'],
      ['/v1/account/waiting/BCDF-GHJK', 'GET'],
      [`/v1/files/${fileId}/content`, 'GET'],
      [`/v1/files/${fileId}`, 'PUT'],
      [`/v1/files/${fileId}/commit`, 'POST'],
    ] as const) {
      expect([path, method, await status(path, method, token as string)]).toEqual([path, method, 403]);
      expect([path, method, await status(path, method)]).toEqual([path, method, 401]);
    }
    const credentials = JSON.parse(
      await readFile(join(world.home, 'profiles/local/credentials.json'), 'utf8'),
    );
    // Even with a device's token nothing is written over, or put where nobody waits for it.
    expect(await status(`/v1/files/${fileId}`, 'PUT', credentials.token)).toBe(404);
    expect(await status('/v1/files/..%2f..%2fx', 'PUT', credentials.token)).toBe(404);
  });

  it('can be made anew where it is lost; what was sent before stays unreadable', async () => {
    const home = await newHome();
    const { secret } = JSON.parse(await readFile(join(world.home, 'backend/bootstrap.json'), 'utf8'));
    await home.cli(['auth', 'login', '--server-url', world.url, '--invite', secret, '--json']);
    expect((await home.cli(['auth', 'recovery', 'reset', '--json'])).json.error.code).toBe('invalid_input');
    expect((await home.cli(['auth', 'recovery', 'reset', '--lose-files', '--json'])).json.status).toBe('ok');
    expect(await canRead(home)).toBe('state_damaged');
    // The machine that knows the old key does not encrypt to one that it was never told of.
    expect(await world.send({ path: 'letter.txt' })).toMatchObject({ error: { code: 'conflict' } });
  });
});
