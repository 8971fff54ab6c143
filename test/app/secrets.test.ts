import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startWorld } from '../helpers/world.ts';

const CANARY = 'c4n4ry-9f8e7d6c5b4a';

/** Where a token may lie, and the databases, which hold hashes. */
const STORES = ['credentials.json', 'daemon.json', 'bootstrap.json'];

it('no credential is in any log, output or file but its own store', async () => {
  const world = await startWorld({
    env: {
      KAIWU_LOG: 'debug',
      GITHUB_PERSONAL_ACCESS_TOKEN: CANARY,
      HTTPS_PROXY: `http://user:${CANARY}@127.0.0.1:9`,
    },
  });
  const said: string[] = [];
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await world.cli(args);
    said.push(stdout, stderr);
  };
  const read = (name: string) => JSON.parse(readFileSync(join(world.home, name), 'utf8'));
  const secrets = [
    CANARY,
    read('profiles/local/credentials.json').token as string,
    read('profiles/local/daemon.json').token as string,
    read('backend/bootstrap.json').secret as string,
  ];
  await run('session', 'spawn-new', 'demo', '.');
  await run('auth', 'status');
  await run('server', 'add', 'x', `https://user:${CANARY}@x.example`);
  await run('server', 'test', '--server-url', 'https://x.invalid');
  await run('auth', 'login', '--server-url', 'https://x.invalid', '--invite', CANARY);
  await run('session', 'list', '--server-url', 'https://x.invalid');
  await run('daemon', 'logs', '--lines', '1000');
  process.kill(read('profiles/local/daemon.json').pid, 'SIGKILL');
  await run('auth', 'login');
  await run('mcp', 'config');
  const { stdout, stderr } = world.output();
  said.push(stdout, stderr);

  const files = readdirSync(world.home, { recursive: true })
    .map((name) => join(world.home, String(name)))
    .filter(
      (path) =>
        statSync(path, { throwIfNoEntry: false })?.isFile() && !STORES.some((name) => path.endsWith(name)),
    );
  expect(files.some((path) => path.endsWith('daemon-local.log'))).toBe(true);
  const found = secrets.flatMap((secret) => {
    // Tokens of ours begin alike; what follows is the secret.
    const piece = secret.replace(/^kw[a-z]*_/, '').slice(0, 8);
    const inFiles = files.filter((path) => readFileSync(path).includes(piece));
    return [...inFiles, ...said.filter((text) => text.includes(piece))];
  });
  expect(found).toEqual([]);
  await world.stop();
});
