import type { Kysely } from 'kysely';
import { searchableText } from '../../core/projection.ts';
import type { TranscriptsPort } from '../../core/ports/sessions.ts';
import { readPage } from './paging.ts';
import { fromJson } from './rows.ts';
import type { Schema } from './schema.ts';
import { sessionNotFound } from './session-rows.ts';
import { contains, excerptOf } from './text.ts';

const ORDER = {
  list: 'transcript-search',
  columns: { at: 'string', sessionId: 'string', seq: 'number' },
} as const;

export function createTranscripts(db: Kysely<Schema>): TranscriptsPort {
  return {
    page: async (sessionId, { after, before, limit, types }) => {
      const session = await db
        .selectFrom('sessions')
        .select('lastSeq')
        .where('sessionId', '=', sessionId)
        .executeTakeFirst();
      if (session === undefined) throw sessionNotFound(sessionId);
      let query = db.selectFrom('events').select('body').where('sessionId', '=', sessionId).limit(limit);
      if (after !== undefined) query = query.where('seq', '>', after);
      if (before !== undefined) query = query.where('seq', '<', before);
      if (types !== undefined) query = query.where('type', 'in', types);
      const rows = await query.orderBy('seq', after === undefined ? 'desc' : 'asc').execute();
      const events = rows.map((row) => fromJson(row.body));
      return { events: after === undefined ? events.toReversed() : events, lastSeq: session.lastSeq };
    },

    search: async (text, { sessionId }, page) => {
      let query = db
        .selectFrom('events')
        .select(['sessionId', 'seq', 'at', 'type', 'body'])
        .where('searchText', 'is not', null)
        .where(contains('searchText', text));
      if (sessionId !== undefined) query = query.where('sessionId', '=', sessionId);
      return readPage(query, ORDER, page, ({ body, ...row }) => ({
        ...row,
        excerpt: excerptOf(searchableText(fromJson(body)) ?? '', text),
      }));
    },
  };
}
