import type { Kysely, Selectable } from 'kysely';
import type { Approval } from '../../core/approval.ts';
import type { ApprovalStore } from '../../core/ports/stores.ts';
import { readPage } from './paging.ts';
import { fromJson, toJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';
import type { Writer } from './writer.ts';

const ORDER = { list: 'approvals', columns: { createdAt: 'string', artifactId: 'string' } } as const;

/** All but the lease, which is nobody's but the store's. */
const COLUMNS = [
  'artifactId',
  'actionId',
  'summary',
  'status',
  'input',
  'inputDigest',
  'requester',
  'sessionId',
  'reason',
  'createdAt',
  'expiresAt',
  'decidedAt',
  'decidedBy',
  'decisionReason',
  'result',
] as const;

const toApproval = (row: Pick<Selectable<Schema['approvals']>, (typeof COLUMNS)[number]>): Approval =>
  withoutNulls({
    ...row,
    input: fromJson(row.input),
    requester: fromJson(row.requester),
    result: fromJson(row.result),
  });

export function createApprovalStore(db: Kysely<Schema>, writer: Writer): ApprovalStore {
  return {
    insert: (approval) =>
      writer.write(async (trx, announce) => {
        const { artifactId, status, input, requester, result } = approval;
        await trx
          .insertInto('approvals')
          .values({
            ...approval,
            input: toJson(input),
            requester: toJson(requester),
            result: toJson(result),
          })
          .execute();
        announce({ type: 'approval.changed', artifactId, status });
      }),

    get: async (artifactId) => {
      const row = await db
        .selectFrom('approvals')
        .select(COLUMNS)
        .where('artifactId', '=', artifactId)
        .executeTakeFirst();
      return row && toApproval(row);
    },

    list: ({ status }, page) => {
      let query = db.selectFrom('approvals').select(COLUMNS);
      if (status !== undefined) query = query.where('status', '=', status);
      return readPage(query, ORDER, page, toApproval);
    },

    move: (artifactId, from, to, { result, ...changes } = {}, lease) =>
      writer.write(async (trx, announce) => {
        let update = trx
          .updateTable('approvals')
          .set({ ...changes, status: to, ...(result === undefined ? {} : { result: toJson(result) }) })
          .where('artifactId', '=', artifactId)
          .where('status', '=', from);
        if (to === 'executing') update = update.set({ lease: lease ?? null });
        if (from === 'executing' && lease !== undefined) update = update.where('lease', '=', lease);
        const { numUpdatedRows } = await update.executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        announce({ type: 'approval.changed', artifactId, status: to });
        return true;
      }),

    listExecutingExcept: async (owner) => {
      const rows = await db
        .selectFrom('approvals')
        .select(COLUMNS)
        .where('status', '=', 'executing')
        .where((eb) => eb.or([eb('lease', 'is', null), eb('lease', '!=', owner)]))
        .orderBy('createdAt')
        .orderBy('artifactId')
        .execute();
      return rows.map(toApproval);
    },
  };
}
