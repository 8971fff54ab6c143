import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AuditRow } from '../../../../src/core/ports/governance.ts';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newAuditRow, readAll } from '../make.ts';

const START = '0'.repeat(64);

export function auditSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  test('audit rows are kept as given and page newest first', async () => {
    const { audit } = world.store;
    const full = newAuditRow(world.runtime, {
      deviceId: 'dev_1',
      sessionId: 'sess_a',
      calledAs: 'session_list',
      code: 'forbidden',
      outcome: 'error',
      approvalId: 'a-1',
      grantId: 'grant_1',
    });
    await audit.append(full);
    for (let i = 0; i < 9; i++) {
      world.runtime.advance(i % 2);
      await audit.append(newAuditRow(world.runtime, { surface: i % 3 === 0 ? 'mcp' : 'cli' }));
    }
    const store = await world.reopen();
    const read = await readAll(
      (page) => store.audit.list({}, page),
      4,
      () => store.audit.append(newAuditRow(world.runtime)),
    );
    expect(read.map((row) => row.auditId)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(read.at(-1)).toStrictEqual({ ...full, auditId: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test('audit filters', async () => {
    const { audit } = world.store;
    await audit.append(newAuditRow(world.runtime));
    world.runtime.advance(1000);
    const since = world.runtime.now().toISOString();
    const other = {
      surface: 'mcp',
      client: 'mcp:zed',
      actionId: 'session.stop',
      outcome: 'error' as const,
      code: 'timeout',
    };
    await audit.append(newAuditRow(world.runtime, { ...other, sessionId: 'sess_a' }));
    const count = async (filter: Parameters<typeof audit.list>[0]) =>
      (await audit.list(filter, { limit: 10 })).items.length;
    for (const [key, value] of Object.entries({ ...other, sessionId: 'sess_a' })) {
      const counts = [await count({ [key]: value }), await count({ [key]: 'none' })];
      expect({ key, counts }).toEqual({ key, counts: [1, 0] });
    }
    expect([
      await count({ since }),
      await count({ until: since }),
      await count({ since, until: since }),
    ]).toEqual([1, 2, 1]);
  });

  test('times in a filter count as the moments that they are', async () => {
    const { audit } = world.store;
    await audit.append(newAuditRow(world.runtime));
    const count = async (filter: Parameters<typeof audit.list>[0]) =>
      (await audit.list(filter, { limit: 10 })).items.length;
    for (const same of ['2026-11-30T12:00:00Z', '2026-11-30T14:00:00+02:00']) {
      expect([await count({ since: same }), await count({ until: same })]).toEqual([1, 1]);
    }
    expect(await count({ since: '2026-11-30T12:00:00.001Z' })).toBe(0);
    expect(await count({ until: '2026-11-30T13:59:59+02:00' })).toBe(0);
  });

  test('the oldest come first when asked so, with cursors of their own', async () => {
    const { audit } = world.store;
    for (let i = 0; i < 7; i++) {
      world.runtime.advance(i % 2);
      await audit.append(newAuditRow(world.runtime));
    }
    const oldest = { order: 'oldest' as const };
    const read = await readAll((page) => audit.list(oldest, page), 3);
    expect(read.map((row) => row.auditId)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const { nextCursor: rising = '' } = await audit.list(oldest, { limit: 1 });
    const { nextCursor: falling = '' } = await audit.list({}, { limit: 1 });
    for (const [filter, cursor] of [
      [{}, rising],
      [oldest, falling],
    ] as const) {
      const bad = audit.list(filter, { limit: 1, cursor });
      await expect(bad).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });

  test('each row is chained to the one before it, whatever texts it holds', async () => {
    const { audit } = world.store;
    await audit.append(newAuditRow(world.runtime));
    await audit.append(
      newAuditRow(world.runtime, {
        client: 'mcp:\ud800 half',
        actionId: 'with\0nul',
        input: { z: 1e21, a: [null, -0, 'é\0\u2028'], 'half \udfff': '\ud800', gone: undefined, ключ: {} },
        durationMs: 0.1,
        code: undefined,
      }),
    );
    const { items } = await (await world.reopen()).audit.list({ order: 'oldest' }, { limit: 5 });
    const [first, second] = items as [AuditRow, AuditRow];
    // RFC 8785 of a flat row in plain ASCII is JSON with its keys sorted.
    const { auditId: _, hash, ...content } = first;
    const json = JSON.stringify(
      Object.fromEntries(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1))),
    );
    expect(hash).toBe(createHash('sha256').update(`${START}${json}`).digest('hex'));
    expect(second).toMatchObject({ client: 'mcp:\ufffd half', actionId: 'with\ufffdnul' });
    expect(await world.store.audit.verify()).toStrictEqual({ rows: 2, head: second.hash });
    expect(await world.store.audit.verify(first.hash)).toStrictEqual({ rows: 2, head: second.hash });
  });

  test('an empty log has a digest too, that stays known', async () => {
    const { audit } = world.store;
    expect(await audit.verify()).toStrictEqual({ rows: 0, head: START });
    expect(await audit.verify('f'.repeat(64))).toMatchObject({ rows: 0, fault: { auditId: 1 } });
    await audit.append(newAuditRow(world.runtime));
    expect(await audit.verify(START)).toMatchObject({ rows: 1 });
    expect(await audit.verify(START)).not.toHaveProperty('fault');
  });

  describe('of 120 rows, verify', () => {
    let heads: string[];
    beforeEach(async () => {
      for (let i = 0; i < 120; i++) {
        world.runtime.advance(1);
        await world.store.audit.append(newAuditRow(world.runtime, { input: { limit: i } }));
      }
      const rows = await readAll((page) => world.store.audit.list({ order: 'oldest' }, page), 100);
      heads = rows.map((row) => row.hash);
    });

    test('finds nothing when nothing was done', async () => {
      const { audit } = await world.reopen();
      expect(await audit.verify(heads[60])).toStrictEqual({ rows: 120, head: heads[119] });
      await audit.append(newAuditRow(world.runtime));
      expect(await audit.verify(heads[119])).toMatchObject({ rows: 121 });
    });

    /** What was done, and how many rows before it are sound. */
    test.each<[string, string, number]>([
      ['an altered text', `update audit set client = 'mcp:zed' where audit_id = 70`, 69],
      ['an altered input', `update audit set input = '{"limit": 6}' where audit_id = 1`, 0],
      ['an input that is no JSON', `update audit set input = 'x' where audit_id = 120`, 119],
      ['an altered time', `update audit set at = '2026-11-30T12:00:00.000Z' where audit_id = 51`, 50],
      ['an altered duration', 'update audit set duration_ms = 1.25 where audit_id = 5', 4],
      ['a field that was added', `update audit set grant_id = 'grant_1' where audit_id = 5`, 4],
      ['a field that was emptied', 'update audit set effect = null where audit_id = 5', 4],
      ['an altered digest', `update audit set hash = '00' where audit_id = 9`, 8],
      ['two rows that changed places', SWAP, 2],
      [
        'a row that was put in before',
        `insert into audit select 0, ${COPIED} from audit where audit_id = 1`,
        0,
      ],
      ['a removed row whose number was taken', `delete from audit where audit_id = 8; ${RENUMBER}`, 7],
    ])('finds %s', async (what, sql, sound) => {
      const { audit } = await world.tamper(sql);
      const auditId = what.endsWith('before') ? 0 : sound + 1;
      const reason = expect.stringContaining(`Row ${auditId} is not what was written`);
      const head = heads[sound - 1] ?? START;
      expect(await audit.verify()).toEqual({ rows: sound, head, fault: { auditId, reason } });
    });

    test.each<[string, number, number, string]>([
      ['a removed row', 50, 50, 'Row 50, the one before it, is missing'],
      ['removed rows', 50, 52, 'Rows 50 to 52, the ones before it, are missing'],
      ['a removed beginning', 1, 3, 'Rows 1 to 3, the ones before it, are missing'],
    ])('finds %s', async (_, from, to, reason) => {
      const { audit } = await world.tamper(`delete from audit where audit_id between ${from} and ${to}`);
      expect(await audit.verify(heads[119])).toEqual({
        rows: from - 1,
        head: heads[from - 2] ?? START,
        fault: { auditId: to + 1, reason: expect.stringContaining(reason) },
      });
    });

    test('finds rows that were cut off at the end by a digest that was kept', async () => {
      const { audit } = await world.tamper('delete from audit where audit_id > 100');
      expect(await audit.verify()).toStrictEqual({ rows: 100, head: heads[99] });
      const cut = {
        rows: 100,
        head: heads[99],
        fault: {
          auditId: 101,
          reason: expect.stringMatching(`No row has the digest ${heads[110]}.*removed`),
        },
      };
      expect(await audit.verify(heads[110])).toEqual(cut);
      // The next row tells it too: numbers are never used again.
      await audit.append(newAuditRow(world.runtime));
      expect(await audit.verify()).toMatchObject({
        rows: 100,
        fault: { auditId: 121, reason: expect.stringContaining('Rows 101 to 120') },
      });
    });

    test('lets others run between its pages, and ends while rows come', async () => {
      let appended = 0;
      const over = new AbortController();
      const appending = (async () => {
        while (!over.signal.aborted) {
          await world.store.audit.append(newAuditRow(world.runtime));
          appended += 1;
          await setImmediate();
        }
      })();
      const { rows, fault } = await world.store.audit.verify(heads[119]);
      const before = appended;
      over.abort();
      await appending;
      expect(fault).toBeUndefined();
      expect(rows).toBeGreaterThanOrEqual(120);
      expect(before).toBeGreaterThan(0);
    });
  });
}

/** All columns but the number. */
const COPIED = `at, surface, client, token_id, device_id, session_id, action_id, called_as, effect, input, input_digest,
  outcome, code, duration_ms, approval_id, grant_id, hash`;
const SWAP = `update audit set audit_id = 1000 where audit_id = 3; update audit set audit_id = 3 where audit_id = 4;
  update audit set audit_id = 4 where audit_id = 1000`;
const RENUMBER = 'update audit set audit_id = audit_id - 1 where audit_id > 8';
