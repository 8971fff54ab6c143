import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ManagedWorld, openManagedWorld } from './helpers/managed-world.ts';
import { errorOf } from './helpers/world.ts';

let world: ManagedWorld;

beforeEach(async () => {
  world = await openManagedWorld();
});
afterEach(() => world.end());

/** One for each place where people put a secret; not one of them looks like any other. */
const CANARY = {
  token: 'Tq7wErTyUiOpAsDf',
  header: 'Hq8zXcVbNmLkJhGf',
  env: 'Eq9pOiUyTrEwQaSd',
  flag: 'Fq1mNbVcXzLkJhGf',
  inline: 'Iq2aSdFgHjKlPoIu',
  user: 'Uq3yTrEwQzXcVbNm',
  query: 'Qq4lKjHgFdSaPoIu',
};

const local = {
  name: 'files',
  command: 'files-server',
  env: { API_KEY: CANARY.env },
  args: ['--verbose', '--api-token', CANARY.flag, `--password=${CANARY.inline}`, '/srv'],
};

const remote = {
  name: 'home',
  // Nothing listens there.
  url: `http://me:${CANARY.user}@127.0.0.1:9/mcp?token=${CANARY.query}`,
  token: CANARY.token,
  headers: { 'X-Api-Key': CANARY.header },
};

function found(text: string): string[] {
  return Object.values(CANARY).filter((canary) => text.includes(canary.slice(0, 8)));
}

function everyFile(): string {
  const names = readdirSync(world.home, { recursive: true }).map((name) => join(world.home, String(name)));
  return names
    .filter((name) => statSync(name).isFile())
    .map((name) => readFileSync(name, 'latin1'))
    .join('\n');
}

it('no secret is in an answer, a log, the audit or a file', async () => {
  const { token } = world;
  const answers: unknown[] = [];
  for (const config of [local, remote]) {
    const context = { machineId: 'mach_one', surface: 'cli' as const };
    answers.push(await world.call(token, 'mcp.server.add', config, context, { idempotencyKey: config.name }));
    answers.push(await world.call(token, 'mcp.server.add', config, context, { idempotencyKey: config.name }));
    // Taken by now, and a misspelt field, and not a server at all.
    answers.push(await world.call(token, 'mcp.server.add', config, context));
    answers.push(await world.call(token, 'mcp.server.add', { ...config, comand: 'x' }, context));
    answers.push(await world.call(token, 'mcp.server.add', { ...config, url: 'x', command: 'y' }, context));
    answers.push(await world.call(token, 'mcp.server.add', config, { surface: 'mcp' }));
    answers.push(
      await world.call(token, 'mcp.server.update', config, context, { idempotencyKey: `u${config.name}` }),
    );
    answers.push(await world.call(token, 'mcp.server.test', { name: config.name }, context));
  }
  for (const action of ['mcp.server.list', 'mcp.tool.list', 'tool.registry.diagnostics', 'audit.list']) {
    answers.push(await world.call(token, action, {}));
  }
  expect(found(JSON.stringify(answers))).toEqual([]);
  expect(found(world.logs.join('\n'))).toEqual([]);
  // They did reach the server itself.
  expect(found(JSON.stringify(world.servers.applied))).toHaveLength(3);
  expect(await world.server('files')).toMatchObject({
    secrets: ['env.API_KEY', 'args'],
    config: { args: ['--verbose', '--api-token', '[redacted]', '--password=[redacted]', '/srv'] },
  });
  expect(await world.server('home')).toMatchObject({ secrets: ['token', 'headers.X-Api-Key', 'url'] });
  await world.backend.close({ drainMs: 100 });
  expect(found(everyFile())).toEqual([]);
});

it('the key is for this user alone, and is made when there is a secret', async () => {
  await world.add();
  const key = join(world.home, 'secrets.key');
  expect(existsSync(key)).toBe(false);
  await world.ok(world.token, 'mcp.server.update', { name: 'files', env: { API_KEY: 'x' } });
  expect(statSync(key).mode & 0o777).toBe(0o600);
});

const back = async () => {
  const applied = world.servers.next('apply');
  const machine = await world.daemon(world.token, { servers: world.servers, instanceId: 'two' });
  world.servers.attach(machine);
  await applied;
};

it('sealed values outlast a restart', async () => {
  await world.add(local);
  await world.restart();
  world.servers.applied = [];
  await back();
  await world.untilTools('files', () => world.servers.applied.length > 0);
  expect(world.servers.applied).toMatchObject([{ config: { env: local.env, args: local.args } }]);
});

it('when the key is lost the server says what to give again, and nothing else is lost', async () => {
  await world.add(local);
  await world.add({ name: 'plain' });
  await world.backend.close();
  rmSync(join(world.home, 'secrets.key'));
  await world.restart();
  world.servers.applied = [];
  await back();
  await world.untilTools('files', () => world.servers.applied.length > 0);
  expect(world.servers.applied).toMatchObject([{ config: { name: 'plain' } }]);
  const lost = await world.server('files');
  expect(lost).toMatchObject({
    status: 'failed',
    secrets: ['env.API_KEY', 'args'],
    toolCounts: { available: 2 },
  });
  expect(lost.reason).toContain('env.API_KEY, args');

  const half = await world.call(world.token, 'mcp.server.update', { name: 'files', env: { API_KEY: 'new' } });
  expect(errorOf(half).message).toContain('args');
  const whole = { name: 'files', env: { API_KEY: 'new' }, args: local.args };
  expect(await world.ok(world.token, 'mcp.server.update', whole)).toMatchObject({ status: 'ready' });
});

it('a damaged key is left as it is', async () => {
  await world.add(local);
  await world.backend.close();
  const key = join(world.home, 'secrets.key');
  writeFileSync(key, 'damaged');
  await world.restart();
  await back();
  expect((await world.server('files')).status).toBe('failed');
  const update = { name: 'files', env: { API_KEY: 'new' }, args: ['x'] };
  const error = errorOf(await world.call(world.token, 'mcp.server.update', update));
  expect(error).toMatchObject({ code: 'state_damaged', details: { path: key } });
  expect(readFileSync(key, 'utf8')).toBe('damaged');
});

it('what is sealed for one server opens for no other', async () => {
  await world.add(local);
  await world.add({ ...local, name: 'other', env: { API_KEY: 'other' } });
  await world.backend.close();
  const { openSqlite } = await import('../../src/local/sqlite.ts');
  const database = openSqlite(world.databasePath);
  database.exec(
    `UPDATE managed_servers SET sealed = (SELECT sealed FROM managed_servers WHERE name = 'files') WHERE name = 'other'`,
  );
  database.close();
  await world.restart();
  world.servers.applied = [];
  await back();
  await world.untilTools('files', () => world.servers.applied.length > 0);
  expect(world.servers.applied.map(({ config }) => config.name)).toEqual(['files']);
  expect((await world.server('other')).reason).toContain('do not open');
});
