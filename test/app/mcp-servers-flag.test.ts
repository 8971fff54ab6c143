import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { homeServer } from '../e2e/helpers/home-server.ts';
import { startWorld, type World } from '../helpers/world.ts';

const CANARY = 'canary-s3cr3t-value';
let world: World;
let profile: string;

const managedStatus = async () => {
  const { json } = await world.cli(['daemon', 'status', '--json']);
  return json.output as {
    note?: string;
    mcpServers: {
      servers: { name: string; status: string }[];
      own: { source: string; problem?: string; warnings: string[] };
    };
  };
};

beforeAll(async () => {
  world = await startWorld();
  profile = join(world.home, 'profiles/local');
}, 90_000);
afterAll(() => world?.stop(), 60_000);

test('JSON that holds no servers is refused before anything is started, and its secrets are not repeated', async () => {
  const given = `{"mcpServers": {"x": {"command": "y", "env": {"K": "${CANARY}" oops`;
  for (const command of [
    ['daemon', 'start'],
    ['daemon', 'restart'],
    ['daemon', 'run'],
    ['up', '--no-open'],
  ]) {
    const { code, stdout, stderr } = await world.cli([...command, '--mcp-servers', given]);
    expect([command, code]).toEqual([command, 2]);
    expect(stdout + stderr).toMatch(/line 1, column \d+/);
    expect(stdout + stderr).not.toContain(CANARY);
  }
  expect((await managedStatus()).mcpServers.servers).toEqual([]);
});

test('the file of the profile is found without a flag, and what is wrong with it stands in the status', async () => {
  const path = join(profile, 'mcp-servers.json');
  const server = homeServer(join(world.home, 'home.log'), { KEY: CANARY });
  writeFileSync(path, JSON.stringify({ home: server.config }));
  await vi.waitFor(
    async () =>
      expect((await managedStatus()).mcpServers).toMatchObject({
        servers: [{ name: 'home', status: 'ready' }],
        own: { source: path, warnings: [] },
      }),
    { timeout: 30_000, interval: 200 },
  );
  const broken = `{"home": {"command": "x",\n "env": {"K": "${CANARY}"`;
  writeFileSync(path, broken);
  await vi.waitFor(
    async () => {
      const { note, mcpServers } = await managedStatus();
      expect(note).toContain(path);
      expect(mcpServers.own.problem).toMatch(/line 2, column \d+/);
      expect(mcpServers.servers).toMatchObject([{ name: 'home', status: 'ready' }]);
    },
    { timeout: 30_000, interval: 200 },
  );
  expect(readFileSync(path, 'utf8')).toBe(broken);
  const log = readFileSync(join(world.home, 'logs/daemon-local.log'), 'utf8');
  expect(log).toContain('mcp-servers.json');
  expect(log).not.toContain(CANARY.slice(0, 8));
});

test('a daemon that is kept by others goes on with the servers that it has, and says so', async () => {
  const { json } = await world.cli(['daemon', 'start', '--mcp-servers', '[]', '--json']);
  expect(json.output).toMatchObject({ already: true, note: expect.stringContaining('daemon restart') });
});

test('a daemon that is started apart takes them by flag, which no list of processes shows', async () => {
  const home = join(world.home, 'apart');
  mkdirSync(home, { mode: 0o700 });
  const env = { ...world.env, KAIWU_HOME: home };
  const login = JSON.parse(readFileSync(join(profile, 'credentials.json'), 'utf8')) as { url: string };
  const config = { version: 1, activeProfile: 'local', profiles: { local: { url: login.url } } };
  const own = JSON.parse(readFileSync(join(world.home, 'config.json'), 'utf8')) as object;
  const apart = JSON.stringify({ ...own, ...config, machineId: 'mach_apart' });
  writeFileSync(join(home, 'config.json'), apart, { mode: 0o600 });
  mkdirSync(join(home, 'profiles/local'), { recursive: true, mode: 0o700 });
  for (const name of ['credentials.json', 'credential-store.json']) {
    if (existsSync(join(profile, name)))
      writeFileSync(join(home, 'profiles/local', name), readFileSync(join(profile, name)), { mode: 0o600 });
  }
  const server = homeServer(join(home, 'apart.log'), { KEY: CANARY });
  const given = JSON.stringify([{ name: 'apart', ...server.config }]);
  const started = await world.cli(['daemon', 'start', '--mcp-servers', given, '--json'], { env });
  expect(started.json).toMatchObject({ status: 'ok', output: { state: 'running' } });
  try {
    const { pid } = started.json.output as { pid: number };
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(CANARY);
    await vi.waitFor(
      async () => {
        const { json } = await world.cli(['daemon', 'status', '--json'], { env });
        expect(json.output.mcpServers.servers).toMatchObject([{ name: 'apart', status: 'ready' }]);
      },
      { timeout: 30_000, interval: 200 },
    );
  } finally {
    await world.cli(['daemon', 'stop'], { env });
  }
}, 60_000);
