import type { Kysely, Selectable } from 'kysely';
import { sql } from 'kysely';
import type { Approval } from '../../core/approval.ts';
import type { ApprovalStore } from '../../core/ports/stores.ts';
import { readPage } from './paging.ts';
import { fromJson, toJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';
import type { Writer } from './writer.ts';

const ORDER = { list: 'approvals', columns: { createdAt: 'string', artifactId: 'string' } } as const;

/** Most that `listConfirmations` answers. */
const CONFIRMATIONS_MAX = 50;

/** All but the lease, which is nobody's but the store's. */
export const APPROVAL_COLUMNS = [
  'artifactId',
  'actionId',
  'summary',
  'status',
  'input',
  'inputDigest',
  'requester',
  'sessionId',
  'boundTo',
  'confirmation',
  'triesLeft',
  'count',
  'nearestGrant',
  'reason',
  'createdAt',
  'expiresAt',
  'decidedAt',
  'decidedBy',
  'decisionReason',
  'policyVersion',
  'result',
] as const;

export const toApproval = (
  row: Pick<Selectable<Schema['approvals']>, (typeof APPROVAL_COLUMNS)[number]>,
): Approval =>
  withoutNulls({
    ...row,
    input: fromJson(row.input),
    requester: fromJson(row.requester),
    confirmation: fromJson(row.confirmation),
    nearestGrant: fromJson(row.nearestGrant),
    result: fromJson(row.result),
  });

/** Who asks: the token and the surface. A default session is a claim that anybody can vary. */
export const toRequesterKey = ({
  tokenId,
  surface,
}: Pick<Approval['requester'], 'tokenId' | 'surface'>): string => JSON.stringify([tokenId, surface]);

/** Session that a requester works in: the one that its token proves, else the one that it says. */
export const askingSessionOf = ({ scope, sessionId }: Approval['requester']): string | undefined =>
  scope?.sessionId ?? sessionId;

export function createApprovalStore(db: Kysely<Schema>, writer: Writer): ApprovalStore {
  return {
    insertOrFold: (approval, maxPending, now) =>
      writer.write(async (trx, announce) => {
        const { artifactId, status, input, requester, confirmation, nearestGrant, result } = approval;
        const requesterKey = toRequesterKey(requester);
        const filed = await trx
          .selectFrom('approvals')
          .select(APPROVAL_COLUMNS)
          .where('artifactId', '=', approval.artifactId)
          .executeTakeFirst();
        const pending = await trx
          .selectFrom('approvals')
          .select(['artifactId', 'actionId', 'inputDigest', 'boundTo', 'confirmation'])
          .where('requesterKey', '=', requesterKey)
          // Written out, so that the index of the pending ones can be used.
          .where('status', '=', sql.lit('pending'))
          .where('expiresAt', '>', now)
          .execute();
        if (filed !== undefined) return { approval: toApproval(filed), pending: pending.length };
        const same = pending.find(
          (one) =>
            one.actionId === approval.actionId &&
            one.inputDigest === approval.inputDigest &&
            one.boundTo === approval.boundTo &&
            // What waits for a person must never become what its own requester says yes to.
            (one.confirmation === null) === (confirmation === undefined),
        );
        if (same !== undefined) {
          const folded = await trx
            .updateTable('approvals')
            .set((eb) => ({ count: eb('count', '+', 1) }))
            .$if(confirmation !== undefined, (update) =>
              // Said once more: the newest code is the one that counts, and the time begins anew.
              update.set({
                confirmation: toJson(confirmation),
                triesLeft: approval.triesLeft ?? null,
                expiresAt: approval.expiresAt,
              }),
            )
            .where('artifactId', '=', same.artifactId)
            .where('status', '=', 'pending')
            .returning(APPROVAL_COLUMNS)
            .executeTakeFirstOrThrow();
          announce({ type: 'approval.changed', artifactId: same.artifactId, status: 'pending' });
          return { approval: toApproval(folded), pending: pending.length };
        }
        if (pending.length >= maxPending) return { pending: pending.length };
        await trx
          .insertInto('approvals')
          .values({
            ...approval,
            input: toJson(input),
            requester: toJson(requester),
            requesterKey,
            askingSessionId: askingSessionOf(requester) ?? approval.sessionId ?? null,
            confirmation: toJson(confirmation),
            nearestGrant: toJson(nearestGrant),
            result: toJson(result),
          })
          .execute();
        announce({ type: 'approval.changed', artifactId, status });
        return { approval, pending: pending.length + 1 };
      }),

    get: async (artifactId) => {
      const row = await db
        .selectFrom('approvals')
        .select(APPROVAL_COLUMNS)
        .where('artifactId', '=', artifactId)
        .executeTakeFirst();
      return row && toApproval(row);
    },

    list: ({ status }, page) => {
      let query = db.selectFrom('approvals').select(APPROVAL_COLUMNS);
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

    listConfirmations: async ({ tokenId, surface, actionId }, since) => {
      const rows = await db
        .selectFrom('approvals')
        .select(APPROVAL_COLUMNS)
        .where('requesterKey', '=', toRequesterKey({ tokenId, surface }))
        .where('actionId', '=', actionId)
        .where('confirmation', 'is not', null)
        .where('createdAt', '>', since)
        .orderBy('createdAt', 'desc')
        .orderBy('artifactId', 'desc')
        .limit(CONFIRMATIONS_MAX)
        .execute();
      return rows.map(toApproval);
    },

    takeTry: (artifactId) =>
      writer.write(async (trx) => {
        const row = await trx
          .updateTable('approvals')
          .set((eb) => ({ triesLeft: eb('triesLeft', '-', 1) }))
          .where('artifactId', '=', artifactId)
          .where('status', '=', 'pending')
          .where('triesLeft', '>', 0)
          .returning(APPROVAL_COLUMNS)
          .executeTakeFirst();
        return row && toApproval(row);
      }),

    listExecutingExcept: async (owner) => {
      const rows = await db
        .selectFrom('approvals')
        .select(APPROVAL_COLUMNS)
        .where('status', '=', 'executing')
        .where((eb) => eb.or([eb('lease', 'is', null), eb('lease', '!=', owner)]))
        .orderBy('createdAt')
        .orderBy('artifactId')
        .execute();
      return rows.map(toApproval);
    },
  };
}
