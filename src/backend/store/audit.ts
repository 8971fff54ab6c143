import type { Insertable, Kysely } from 'kysely';
import { toWellFormedText } from '../../core/digest.ts';
import type { AuditPort, AuditRow } from '../../core/ports/governance.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { CHAIN_START, toAuditRow, toRowHash, verifyAudit } from './audit-chain.ts';
import { readPage } from './paging.ts';
import { fromJson, toJson } from './rows.ts';
import type { Schema } from './schema.ts';
import type { Writer } from './writer.ts';

type NewRow = Parameters<AuditPort['append']>[0];

const COLUMNS = { at: 'string', auditId: 'number' } as const;
const ORDERS = {
  newest: { list: 'audit', columns: COLUMNS },
  oldest: { list: 'audit-oldest', columns: COLUMNS, rising: true },
};

/** Rows are added and read; nothing changes or removes one. */
export function createAuditStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): AuditPort {
  /** Rows that came while others were being written: one transaction, and one wait for the disk, for all of them. */
  let waiting: NewRow[] = [];
  let flushing: Promise<void> | undefined;

  function take(): NewRow[] {
    const rows = waiting;
    waiting = [];
    flushing = undefined;
    return rows;
  }

  async function flush(): Promise<void> {
    let rows: NewRow[] | undefined;
    try {
      await writer.writeSoon(async (trx) => {
        rows = take();
        const last = await trx
          .selectFrom('audit')
          .select('hash')
          .orderBy('auditId', 'desc')
          .limit(1)
          .executeTakeFirst();
        let before = last?.hash ?? CHAIN_START;
        for (const row of rows) {
          const columns = toColumns(row);
          // What will be read is what counts.
          before = toRowHash(runtime, before, { ...columns, input: fromJson(columns.input) });
          await trx
            .insertInto('audit')
            .values({ ...columns, hash: before })
            .execute();
        }
      });
    } finally {
      // A transaction that could not even begin took none.
      if (rows === undefined) take();
    }
  }

  return {
    append(row) {
      waiting.push(row);
      return (flushing ??= flush());
    },

    list: ({ since, until, order = 'newest', withoutReads, ...equal }, page) => {
      let query = db.selectFrom('audit').selectAll();
      if (withoutReads === true) {
        query = query.where((eb) =>
          eb.or([eb('effect', 'is', null), eb('effect', '!=', 'read'), eb('outcome', '=', 'error')]),
        );
      }
      for (const field of ['surface', 'client', 'actionId', 'outcome', 'code', 'sessionId'] as const) {
        const value = equal[field];
        if (value !== undefined) query = query.where(field, '=', value);
      }
      if (since !== undefined) query = query.where('at', '>=', toUtc(since));
      if (until !== undefined) query = query.where('at', '<=', toUtc(until));
      return readPage(query, ORDERS[order], page, toAuditRow);
    },

    verify: (head) => verifyAudit(db, runtime, head),
  };
}

/** Texts as every database gives them back: some refuse or cut what is replaced here. */
const toColumns = (row: Omit<AuditRow, 'auditId' | 'hash'>) =>
  Object.fromEntries(
    Object.entries({ ...row, input: toJson(row.input) }).map(([name, value]) => [
      name,
      typeof value === 'string' ? toWellFormedText(value).replaceAll('\0', '\ufffd') : value,
    ]),
  ) as Omit<typeof row, 'input'> & Pick<Insertable<Schema['audit']>, 'input'>;

/** Rows have their times in UTC; a filter may come with another offset. */
const toUtc = (time: string): string => new Date(time).toISOString();
