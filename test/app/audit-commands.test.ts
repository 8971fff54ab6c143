import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditRow } from '../../src/core/ports/governance.ts';
import { openSqlite } from '../../src/local/sqlite.ts';
import { type Api, createApi } from '../e2e/helpers/api.ts';
import { KAIWU, makeFolder } from '../helpers/kaiwu.ts';
import { startWorld, type World } from '../helpers/world.ts';

const ROWS = 5000;

let world: World;
let api: Api;

beforeAll(async () => {
  world = await startWorld();
  api = createApi(world);
  let left = ROWS;
  const caller = async () => {
    while (left-- > 0) await api.call('machines.list', {}, left % 10 === 0 ? 'mcp' : 'cli');
  };
  await Promise.all(Array.from({ length: 16 }, caller));
}, 120_000);
afterAll(() => world?.stop(), 60_000);

const audit = (...args: string[]) => world.cli(['audit', ...args]);
const rowsOf = (lines: string): AuditRow[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** How many pages exports have asked for so far, other than by this very question. */
async function pagesRead(): Promise<number> {
  let count = 0;
  for (let cursor: string | undefined; ; ) {
    const { rows, nextCursor } = await api.output('audit.list', {
      actionId: 'audit.list',
      limit: 200,
      cursor,
    });
    count += rows.filter(({ input }: AuditRow) => input.order === 'oldest').length;
    if (nextCursor === undefined) return count;
    cursor = nextCursor;
  }
}

/** Exports into a pipe that the caller reads as it likes. */
function exportToPipe(...args: string[]) {
  const child = spawn(process.execPath, [KAIWU, 'audit', 'export', ...args], {
    env: world.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, exited: once(child, 'close') as Promise<[number]> };
}

describe('audit export', () => {
  it('is complete, in order and chained through a pipe that is read slowly, and reads no more than it can write', async () => {
    const before = await pagesRead();
    const { child, exited } = exportToPipe();
    let text = '';
    child.stdout.setEncoding('utf8');
    text += (await once(child.stdout, 'data'))[0];
    child.stdout.pause();
    // Nobody reads now. What it asks for must come to an end long before the log does.
    let pages = -1;
    for (let now = await pagesRead(); now !== pages; now = await pagesRead()) {
      pages = now;
      await sleep(700);
    }
    expect(pages - before).toBeGreaterThan(0);
    expect(pages - before).toBeLessThan(10);
    child.stdout.on('data', (part: string) => (text += part)).resume();
    expect((await exited)[0]).toBe(0);

    const rows = rowsOf(text);
    expect(rows.filter(({ actionId }) => actionId === 'machines.list')).toHaveLength(ROWS);
    const ids = rows.map(({ auditId }) => auditId).sort((a, b) => a - b);
    expect(ids).toEqual(ids.map((_, i) => i + 1));
    const times = rows.map(({ at }) => at);
    expect(times).toEqual([...times].sort());
    const { head } = (await audit('verify', '--json')).json.output;
    expect(head).toMatch(/^[0-9a-f]{64}$/);
    for (const { hash } of rows) expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const kept = rows.find(({ auditId }) => auditId === ids.at(-1))!.hash;
    expect((await audit('verify', '--head', kept)).code).toBe(0);
  }, 120_000);

  it('ends quietly, and soon, when the reader goes away', async () => {
    const before = await pagesRead();
    const { child, exited } = exportToPipe();
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect((await exited)[0]).toBe(0);
    expect((await pagesRead()) - before).toBeLessThan(10);
  });

  it('filters as the list does, and writes a file of its own user that is there when it is whole', async () => {
    const folder = await makeFolder();
    const path = join(folder, 'audit.jsonl');
    writeFileSync(path, 'before', { mode: 0o644 });
    const narrow = ['--surface', 'mcp', '--action-id', 'machines.list'];
    const { stdout, code } = await audit('export', ...narrow, '--output', path);
    expect([code, stdout]).toEqual([0, `500 rows written to ${path}.\n`]);
    const rows = rowsOf(readFileSync(path, 'utf8'));
    expect(rows).toHaveLength(500);
    expect(new Set(rows.map(({ surface }) => surface))).toEqual(new Set(['mcp']));
    expect(statSync(path).mode & 0o777).toBe(0o600);

    const [first, last] = [rows[100]!.at, rows[200]!.at];
    const between = await audit('export', ...narrow, '--since', first, '--until', last);
    expect(rowsOf(between.stdout)).toEqual(rows.filter(({ at }) => at >= first && at <= last));
    const none = await audit('export', '--code', 'agent_failed');
    expect([none.code, none.stdout]).toEqual([0, '']);

    const json = await audit('export', ...narrow, '--output', 'here.jsonl', '--json');
    expect(json.json.output).toEqual({ file: join(world.home, 'here.jsonl'), rows: 500 });
    expect((await audit('export', '--json')).json.error.code).toBe('invalid_input');
    const refused = await audit('export', '--since', 'yesterday', '--output', path);
    expect(refused.code).toBe(2);
    expect(rowsOf(readFileSync(path, 'utf8'))).toEqual(rows);
    expect((await audit('export', '--output', join(folder, 'no/where'))).code).toBe(5);
    expect((await audit('export', '--output', folder)).stderr).toContain('is a folder');
    expect(readdirSync(folder)).toEqual(['audit.jsonl']);
    await rm(folder, { recursive: true });
  });
});

describe('audit list', () => {
  it('goes both ways and finds a code', async () => {
    await api.call('session.archive', { sessionId: 'sess_nobody' });
    const oldest = await api.output('audit.list', { order: 'oldest', limit: 2 });
    expect(oldest.rows.map(({ auditId }: AuditRow) => auditId)).toEqual([1, 2]);
    const found = await api.output('audit.list', { code: 'session_not_found' });
    expect(found.rows.map(({ actionId }: AuditRow) => actionId)).toEqual(['session.archive']);
    const mixed = await api.call('audit.list', { cursor: oldest.nextCursor });
    expect(mixed).toMatchObject({ status: 'error', error: { code: 'invalid_input' } });
  });
});

describe('audit verify', () => {
  /** Does to the log what only somebody with the file can do, in a copy of this home's database. */
  async function tampered(sql: string, ...args: string[]) {
    const home = await makeFolder('kaiwu-world-');
    let other = await startWorld({ home });
    try {
      for (let i = 0; i < 8; i++) await other.cli(['machines', 'list']);
      const { head } = (await other.cli(['audit', 'verify', '--json'])).json.output;
      await other.stop();
      const database = openSqlite(join(home, 'backend/kaiwu.db'));
      database.exec(sql);
      database.close();
      other = await startWorld({ home });
      const words = ['audit', 'verify', ...args.map((word) => word.replace('HEAD', head))];
      return { ...(await other.cli(words)), json: (await other.cli([...words, '--json'])).json };
    } finally {
      await other.stop();
      await rm(home, { recursive: true, force: true });
    }
  }

  it('says that the log is intact, and what to keep', async () => {
    const { stdout, code } = await audit('verify');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^The audit log is intact: [\d,]+ rows, head [0-9a-f]{64}\.\nKeep the head/);
  });

  it('finds a row that was altered', async () => {
    const { code, stdout, stderr, json } = await tampered(
      `UPDATE audit SET client = 'mcp:somebody' WHERE audit_id = 3`,
    );
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^error state_damaged: The audit log is not intact\. Row 3 is not what was written/,
    );
    expect(stderr).toContain('Only the 2 rows before that can be relied on');
    expect(json.error.details).toMatchObject({ intact: false, rows: 2, fault: { auditId: 3 } });
  });

  it('finds a row that was removed', async () => {
    const { code, stderr } = await tampered('DELETE FROM audit WHERE audit_id = 4');
    expect(code).toBe(1);
    expect(stderr).toContain('Row 4, the one before it, is missing.');
  });

  it('finds rows cut off at the end by the head that was kept', async () => {
    // With the counter set back, what is written from then on continues the chain as if nothing had been there.
    const cut = `DELETE FROM audit WHERE audit_id > 5; UPDATE sqlite_sequence SET seq = 5 WHERE name = 'audit'`;
    const { code, stderr } = await tampered(cut, '--head', 'HEAD');
    expect(code).toBe(1);
    expect(stderr).toContain('were removed');
  });
});
