import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSqliteStore } from '../../../src/backend/store/sqlite/create-sqlite-store.ts';
import type { SqliteHandle } from '../../../src/core/ports/host.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { createTestRuntime } from './databases.ts';
import { agentText, newApproval, newAuditRow, newMessage, newSession, toEvents } from './make.ts';
import type { Child } from './spawn-child.ts';
import { spawnChild } from './spawn-child.ts';

let folder: string;
let path: string;
const runtime = createTestRuntime();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kaiwu-sqlite-'));
  path = join(folder, 'a folder', 'kai wu#1?x=2%41.db');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('openSqlite', () => {
  const create = (): void => {
    const db = openSqlite(path);
    db.exec('create table t (a, b)');
    for (let i = 0; i < 500; i++) db.prepare('insert into t values (?, ?)').run(i, 'x'.repeat(100));
    db.close();
  };

  test('opens a durable database that only this user reads, whatever the umask', async () => {
    const umask = process.umask(0o000);
    try {
      const db = openSqlite(path);
      db.exec('create table t (a)');
      expect(db.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' });
      expect(db.prepare('pragma synchronous').get()).toEqual({ synchronous: 2 });
      expect(db.prepare('pragma foreign_keys').get()).toEqual({ foreign_keys: 1 });
      for (const file of [path, `${path}-wal`, `${path}-shm`]) {
        expect([file, (await stat(file)).mode & 0o777]).toEqual([file, 0o600]);
      }
      expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
      db.close();
      db.close();
    } finally {
      process.umask(umask);
    }
    expect(existsSync(path)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('takes booleans and undefined', () => {
    const db = openSqlite(path);
    const row = db.prepare('select ? as yes, ? as no, ? as none').get(true, false, undefined);
    expect({ ...row }).toEqual({ yes: 1, no: 0, none: null });
    db.close();
  });

  test('narrows the rights of a file that others could read', async () => {
    create();
    await chmod(path, 0o644);
    openSqlite(path).close();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['is no database', (p: string) => writeFile(p, 'no database, only text. '.repeat(500))],
    ['is cut in half', async (p: string) => truncate(p, (await stat(p)).size / 2)],
    [
      'has damaged pages',
      async (p: string) => {
        const bytes = await readFile(p);
        bytes.fill(0xa5, 8192, 16_384);
        await writeFile(p, bytes);
      },
    ],
  ])('a file that %s is reported with its path and kept', async (_, damage) => {
    create();
    await damage(path);
    const before = await readFile(path);
    expect(() => openSqlite(path)).toThrow(
      expect.objectContaining({ code: 'state_damaged', message: expect.stringContaining(path) }),
    );
    expect(await readFile(path)).toEqual(before);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('a database that was emptied or lost is not begun anew over its own log', async () => {
    const db = openSqlite(path);
    db.exec('create table t (a); insert into t values (1)');
    const log = await readFile(`${path}-wal`);
    db.close();
    await writeFile(`${path}-wal`, log);
    const damaged = expect.objectContaining({ code: 'state_damaged' });
    await truncate(path, 0);
    expect(() => openSqlite(path)).toThrow(damaged);
    await rm(path);
    expect(() => openSqlite(path)).toThrow(damaged);
    expect(existsSync(path)).toBe(false);
    expect(await readFile(`${path}-wal`)).toEqual(log);
  });

  test('an empty file becomes a database: it is what a start leaves that was cut off', async () => {
    create();
    await truncate(path, 0);
    openSqlite(path).close();
    expect((await stat(path)).size).toBeGreaterThan(0);
  });

  test('a folder, or a path through a file, is an error that names it', async () => {
    create();
    for (const bad of [folder, join(path, 'below.db')]) {
      expect(() => openSqlite(bad)).toThrow(
        expect.objectContaining({ code: 'state_damaged', message: expect.stringContaining(bad) }),
      );
    }
  });
});

describe('an exclusive file', () => {
  let children: Child[];
  beforeEach(() => {
    children = [];
    path = join(folder, 'lock.db');
  });
  afterEach(() => Promise.all(children.map((child) => child.kill())));

  const start = async (count: number): Promise<string[]> => {
    children = Array.from({ length: count }, () => spawnChild('lock', 'sqlite', path));
    for (const child of children) expect(await child.line()).toBe('ready');
    for (const child of children) child.go();
    return Promise.all(children.map((child) => child.line()));
  };

  test('keeps every other process out until its holder is killed', async () => {
    expect(await start(1)).toEqual(['held']);
    const conflict = expect.objectContaining({ code: 'conflict', message: expect.stringContaining(path) });
    expect(() => openSqlite(path, { exclusive: true })).toThrow(conflict);
    expect(() => openSqlite(path, { busyTimeoutMs: 100 })).toThrow(conflict);
    await children[0]?.kill();
    const mine = openSqlite(path, { exclusive: true });
    mine.exec('create table if not exists t (a)');
    expect(() => openSqlite(path, { exclusive: true, busyTimeoutMs: 0 })).toThrow(conflict);
    mine.close();
    openSqlite(path, { exclusive: true }).close();
  });

  test('goes to exactly one of those that ask at one moment', async () => {
    const answers = await start(4);
    expect(answers.sort()).toEqual(['conflict', 'conflict', 'conflict', 'held']);
  });
});

describe('createSqliteStore', () => {
  test('a database of a newer Kaiwu is refused and untouched', async () => {
    const store = await createSqliteStore(openSqlite(path), runtime);
    await store.close();
    let handle = openSqlite(path);
    handle.prepare('insert into kysely_migration values (?, ?)').run('9999-future', '2030-01-01');
    handle.close();
    const before = contentOf(path);
    handle = openSqlite(path);
    await expect(createSqliteStore(handle, runtime)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('9999-future'),
    });
    handle.close();
    expect(contentOf(path)).toEqual(before);
  });

  test("another program's database is refused and untouched", async () => {
    let handle = openSqlite(path);
    handle.exec('create table theirs (a)');
    handle.close();
    const before = contentOf(path);
    handle = openSqlite(path);
    await expect(createSqliteStore(handle, runtime)).rejects.toMatchObject({
      code: 'state_damaged',
      message: expect.stringContaining(path),
    });
    handle.close();
    expect(contentOf(path)).toEqual(before);
  });

  test.each([
    ['full', 'pragma max_page_count=1', 'pragma max_page_count=1000000'],
    ['read-only', 'pragma query_only=1', 'pragma query_only=0'],
  ])('a %s disk refuses a write whole, and the next one works', async (what, stop, resume) => {
    const handle = openSqlite(path);
    const store = await createSqliteStore(handle, runtime);
    await store.sessions.insert(newSession('sess_a'));
    await store.messages.insert(newMessage('msg_1', 'sess_a'));
    const { newest } = await store.feed.bounds();
    const events = toEvents(
      runtime,
      1,
      { type: 'user_message', messageId: 'msg_1', text: 'say hello' },
      ...Array.from({ length: 199 }, () => agentText('x'.repeat(10_000))),
    );
    handle.exec(stop);
    await expect(store.transcripts.append('sess_a', events)).rejects.toMatchObject({
      name: 'KaiwuError',
      code: 'internal',
      message: expect.stringContaining(what),
    });
    expect(await store.transcripts.page('sess_a', { limit: 5 })).toEqual({ events: [], lastSeq: 0 });
    expect((await store.messages.get('msg_1'))?.status).toBe('queued');
    expect((await store.feed.bounds()).newest).toBe(newest);
    handle.exec(resume);
    expect(await store.transcripts.append('sess_a', events)).toEqual({ ackedSeq: 200 });
    await store.close();
  });

  test('the feed keeps about its last 50,000 entries', async () => {
    const handle = openSqlite(path);
    const store = await createSqliteStore(handle, runtime);
    const body = '{"type":"policy.changed","version":1}';
    handle
      .prepare(
        'with recursive n(i) as (select 1 union all select i + 1 from n where i < 51999) insert into feed (at, body) select ?, ? from n',
      )
      .run('2026-11-30T12:00:00.000Z', body);
    await store.feed.append({ type: 'policy.changed', version: 2 });
    expect(await store.feed.bounds()).toEqual({ oldest: 2001, newest: 52_000 });
    await store.close();
  });

  test('lists over 10,000 rows walk an index and sort nothing', async () => {
    const seen: [string, unknown[]][] = [];
    const handle = openSqlite(path);
    const store = await createSqliteStore(recording(handle, seen), runtime);
    handle.exec(`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
      insert into sessions (session_id, status, agent_id, machine_id, directory, permission_mode, models, search_text,
        last_seq, created_at, updated_at)
      select printf('sess_%016d', i), 'idle', 'demo', 'mach_one', '/w', 'default', '[]', '/w', 0,
        printf('2026-11-30T12:%02d:%02d.000Z', i / 60 % 60, i % 60), '2026-11-30T12:00:00.000Z' from n`);
    const page = { limit: 50 };
    const { nextCursor = '' } = await store.sessions.list({}, page);
    const sessionId = 'sess_0000000000000001';
    const plans: Record<string, () => Promise<unknown>> = {
      sessions_current: () => store.sessions.list({}, page),
      'sessions_current ((created_at,session_id)<(?,?))': () =>
        store.sessions.list({}, { ...page, cursor: nextCursor }),
      sessions_all: () => store.sessions.list({ archived: 'include' }, page),
      sessions_of_machine: () => store.sessions.list({ machineId: 'mach_one' }, page),
      'autoindex_sessions_1 (session_id>? AND session_id<?)': () => store.sessions.findByPrefix('00', 10),
      messages_by_status: () => store.messages.undelivered(sessionId),
      autoindex_events_1: () => store.transcripts.page(sessionId, { limit: 50 }),
      events_search: () => store.transcripts.search('x', {}, page),
      approvals_all: () => store.approvals.list({}, page),
      approvals_by_status: () => store.approvals.list({ status: 'pending' }, page),
      audit_by_time: () => store.audit.list({ since: '2026-01-01T00:00:00.000Z' }, page),
    };
    await store.approvals.insert(newApproval('a-1', runtime));
    await store.audit.append(newAuditRow(runtime));
    for (const [index, query] of Object.entries(plans)) {
      seen.length = 0;
      await query();
      const [sql, values] = seen.at(-1) ?? ['', []];
      const plan = handle
        .prepare(`explain query plan ${sql}`)
        .all(...(values as string[]))
        .map((row) => String(row.detail))
        .join('\n');
      expect(`${sql}\n${plan}`).toContain(index);
      expect(`${sql}\n${plan}`).not.toContain('TEMP B-TREE');
    }
    await store.close();
  });
});

/** The same handle; notes each query and its values. */
function recording(handle: SqliteHandle, seen: [string, unknown[]][]): SqliteHandle {
  return {
    ...handle,
    prepare: (sql) => {
      const statement = handle.prepare(sql);
      return {
        ...statement,
        all: (...values) => {
          seen.push([sql, values]);
          return statement.all(...values);
        },
      };
    },
  };
}

/** All tables with all their rows. */
function contentOf(file: string): unknown {
  const db = openSqlite(file);
  const tables = db.prepare('select * from sqlite_master order by name').all();
  const rows = tables
    .filter((table) => table.type === 'table')
    .map((table) => db.prepare(`select * from "${String(table.name)}"`).all());
  db.close();
  return { tables, rows };
}
