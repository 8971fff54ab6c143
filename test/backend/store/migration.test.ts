import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSqliteStore } from '../../../src/backend/store/sqlite/create-sqlite-store.ts';
import type { SqliteHandle } from '../../../src/core/ports/host.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { createTestRuntime, DATABASES } from './databases.ts';
import { newApproval, newAuditRow, newSession } from './make.ts';
import type { Child } from './spawn-child.ts';
import { spawnChild, spawnLimited } from './spawn-child.ts';

/** A database as release 0.1 wrote it, with rows in every table. */
const RELEASED = await readFile(new URL('released/0001.sql', import.meta.url), 'utf8');

const database = DATABASES.find(({ name }) => name === 'sqlite')!;
const runtime = createTestRuntime();
let location: string;
let children: Child[];

beforeEach(async () => {
  children = [];
  location = await database.create();
  await database.run(location, RELEASED);
});
afterEach(async () => {
  await Promise.all(children.map((child) => child.kill()));
  await database.remove(location);
});

const withHandle = <T>(work: (handle: SqliteHandle) => T): T => {
  const handle = openSqlite(location);
  try {
    return work(handle);
  } finally {
    handle.close();
  }
};

type Rows = Record<string, Record<string, unknown>[]>;
const readAllTables = (): Rows =>
  withHandle((handle) => {
    const tables = handle.prepare(
      `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'kysely_%'`,
    );
    return Object.fromEntries(
      tables.all().map(({ name }) => [
        name,
        handle
          .prepare(`select * from "${String(name)}"`)
          .all()
          .map((row) => ({ ...row })),
      ]),
    );
  });

const migrate = async (): Promise<void> => {
  const store = await database.open(location, runtime);
  await store.close();
};

test('a released database keeps every row as it was', async () => {
  const before = readAllTables();
  expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([]);
  await migrate();
  const after = readAllTables();
  for (const [table, rows] of Object.entries(before))
    expect({ [table]: after[table] }).toMatchObject({ [table]: rows });
  expect(Object.keys(after).filter((table) => !(table in before))).toEqual([
    'grants',
    'runs',
    'run_messages',
    'files',
    'account_keys',
    'passkeys',
    'passkey_challenges',
    'managed_servers',
    'managed_pins',
    'account_settings',
    'memory_items',
    'memory_vectors',
    'memory_words',
    'memory_words_data',
    'memory_words_idx',
    'memory_words_content',
    'memory_words_docsize',
    'memory_words_config',
  ]);
  await migrate();
  expect(readAllTables()).toEqual(after);
});

test('what a released database holds is read, chained and goes on', async () => {
  const store = await database.open(location, runtime);
  const now = runtime.now().toISOString();

  const { items: approvals } = await store.approvals.list({}, { limit: 10 });
  expect(approvals.map(({ boundTo, count }) => ({ boundTo, count }))).toEqual(
    approvals.map(() => ({ boundTo: '', count: 1 })),
  );
  const { requester } = newApproval('a-new', runtime);
  const ask = (sessionId?: string) =>
    store.approvals.insertOrFold(
      newApproval('a-new', runtime, { requester: { ...requester, sessionId } }),
      0,
      now,
    );
  expect([await ask(), await ask('sess_a'), await ask('sess_b')]).toEqual([
    { pending: 3 },
    { pending: 3 },
    { pending: 3 },
  ]);

  const policy = await store.policies.get();
  expect(policy).toStrictEqual({
    version: 2,
    rules: { 'session.stop': { mcp: { approval: true } }, 'future.*': { nowhere: { enabled: true } } },
  });

  // A digest of these rows that is found today must be found for ever.
  const head = '15fdbf977ff251c24390e57b5376efd69a077b9f2e2f6c8f8d586f95359fe747';
  expect(await store.audit.verify()).toStrictEqual({ rows: 3, head });
  await store.audit.append(newAuditRow(runtime));
  expect(await store.audit.verify(head)).toMatchObject({ rows: 4 });
  await store.close();
  withHandle((handle) => handle.exec(`update audit set outcome = 'ok' where audit_id = 2`));
  const again = await database.open(location, runtime);
  expect(await again.audit.verify(head)).toMatchObject({ rows: 1, fault: { auditId: 2 } });
  await again.close();
});

test('sessions of a released database are roots that work goes on in, and their asks are in the inbox', async () => {
  await database.run(location, `update sessions set status = 'failed' where session_id = 'sess_a'`);
  const store = await database.open(location, runtime);
  const { sessions, inbox } = store;
  expect(await sessions.get('sess_a')).toMatchObject({ depth: 0, tags: [] });
  expect((await sessions.lineage('sess_a')).map(({ sessionId }) => sessionId)).toEqual(['sess_a']);
  await sessions.insert(newSession('sess_child', { parentSessionId: 'sess_a' }));
  expect(await sessions.isWithin('sess_child', 'sess_a')).toBe(true);
  const now = runtime.now().toISOString();
  const { items } = await inbox.list({ now, sessionId: 'sess_a' }, { limit: 10 });
  expect(items.map(({ kind, approval }) => approval?.artifactId ?? kind).toSorted()).toEqual([
    'a-session',
    'failed',
  ]);
  expect(await sessions.archivedUntold('mach_one')).toEqual([]);
  await store.close();
});

test('processes that open a released database at one moment change it once', async () => {
  children = Array.from({ length: 4 }, () => spawnChild('open', database.name, location));
  for (const child of children) expect(await child.line()).toBe('ready');
  for (const child of children) child.go();
  for (const child of children) expect(await child.line()).toBe('opened');
  const store = await database.open(location, runtime);
  expect(await store.audit.verify()).not.toHaveProperty('fault');
  await store.close();
});

test('a change that is cut off leaves the released database as it was', async () => {
  withHandle((handle) => handle.exec('create table grants (a)'));
  const before = readAllTables();
  const handle = openSqlite(location);
  await expect(createSqliteStore(handle, runtime)).rejects.toThrow('grants');
  handle.close();
  expect(readAllTables()).toEqual(before);
});

test('a log larger than the memory is chained and verified', async () => {
  withHandle((handle) =>
    handle.exec(`with recursive n(i) as (select 4 union all select i + 1 from n where i < 15003)
      insert into audit select i, '2026-11-30T12:00:02.000Z', 'cli', 'cli', 'tok_1', null, null, 'note.add', null, 'write',
        json_object('text', printf('%.*c', 10000, 'x')), 'digest', 'ok', null, 1.5, null from n`),
  );
  const child = spawnLimited(['--max-old-space-size=100'], 'verify', database.name, location);
  children = [child];
  expect(JSON.parse(await child.line())).toEqual({
    rows: 15_003,
    head: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});
