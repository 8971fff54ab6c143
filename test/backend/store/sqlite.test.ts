import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSqliteStore } from '../../../src/backend/store/sqlite/create-sqlite-store.ts';
import type { SqliteHandle } from '../../../src/core/ports/host.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { createTestRuntime } from './databases.ts';
import { agentText, file, newApproval, newAuditRow, newMessage, newSession, toEvents } from './make.ts';

let folder: string;
let path: string;
const runtime = createTestRuntime();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kaiwu-sqlite-'));
  path = join(folder, 'kaiwu.db');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

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
    const plans: [string, () => Promise<unknown>][] = [
      ['sessions_current', () => store.sessions.list({}, page)],
      [
        'sessions_current ((created_at,session_id)<(?,?))',
        () => store.sessions.list({}, { ...page, cursor: nextCursor }),
      ],
      ['sessions_all', () => store.sessions.list({ archived: 'include' }, page)],
      ['sessions_of_machine', () => store.sessions.list({ machineId: 'mach_one' }, page)],
      ['autoindex_sessions_1 (session_id>? AND session_id<?)', () => store.sessions.findByPrefix('00', 10)],
      ['messages_by_status', () => store.messages.undelivered(sessionId)],
      ['autoindex_events_1', () => store.transcripts.page(sessionId, { limit: 50 })],
      ['events_search', () => store.transcripts.search('x', {}, page)],
      ['approvals_all', () => store.approvals.list({}, page)],
      ['approvals_by_status', () => store.approvals.list({ status: 'pending' }, page)],
      ['audit_by_time', () => store.audit.list({ since: '2026-01-01T00:00:00.000Z' }, page)],
      ['audit_by_time', () => store.audit.list({ order: 'oldest' }, page)],
      ['grants_all', () => store.grants.list({}, page)],
      [
        'grants_of_action',
        () =>
          store.grants.candidates(
            { actionId: 'a', surface: 'mcp', tokenId: 't' },
            '2026-01-01T00:00:00.000Z',
          ),
      ],
      ['grants_of_action', () => store.grants.list({ actionId: 'a', active: true }, page)],
      ['approvals_pending', () => store.approvals.insertOrFold(newApproval('a-2', runtime), 0, '')],
    ];
    await file(store, newApproval('a-1', runtime));
    await store.audit.append(newAuditRow(runtime));
    for (const [index, query] of plans) {
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
