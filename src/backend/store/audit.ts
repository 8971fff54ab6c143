import type { Kysely } from 'kysely';
import type { AuditPort } from '../../core/ports/governance.ts';
import { readPage } from './paging.ts';
import { fromJson, toJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';

const ORDER = { list: 'audit', columns: { at: 'string', auditId: 'number' } } as const;

/** Rows are added and read; nothing changes or removes one. */
export function createAuditStore(db: Kysely<Schema>): AuditPort {
  return {
    append: async (row) => {
      await db
        .insertInto('audit')
        .values({ ...row, input: toJson(row.input) })
        .execute();
    },

    list: ({ since, until, ...equal }, page) => {
      let query = db.selectFrom('audit').selectAll();
      for (const field of ['surface', 'client', 'actionId', 'outcome', 'sessionId'] as const) {
        const value = equal[field];
        if (value !== undefined) query = query.where(field, '=', value);
      }
      if (since !== undefined) query = query.where('at', '>=', since);
      if (until !== undefined) query = query.where('at', '<=', until);
      return readPage(query, ORDER, page, (row) => ({
        ...withoutNulls(row),
        input: fromJson(row.input),
      }));
    },
  };
}
