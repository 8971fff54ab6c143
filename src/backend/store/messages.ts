import type { Kysely, Selectable } from 'kysely';
import { KaiwuError } from '../../core/errors.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { Message } from '../../core/session.ts';
import { fromJson, toJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';
import { sessionNotFound } from './session-rows.ts';
import type { MessageStore } from './store.ts';
import type { Writer } from './writer.ts';

const COLUMNS = ['messageId', 'sessionId', 'text', 'status', 'createdAt', 'reply', 'reason'] as const;

const toMessage = (row: Pick<Selectable<Schema['messages']>, (typeof COLUMNS)[number]>): Message =>
  withoutNulls({
    ...row,
    text: fromJson(row.text),
    reply: fromJson(row.reply),
    reason: fromJson(row.reason),
  });

export function createMessageStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): MessageStore {
  const find = async (from: Kysely<Schema>, messageId: string): Promise<Message | undefined> => {
    const row = await from
      .selectFrom('messages')
      .select(COLUMNS)
      .where('messageId', '=', messageId)
      .executeTakeFirst();
    return row && toMessage(row);
  };

  const selectUndelivered = (from: Kysely<Schema>, sessionId: string) =>
    from
      .selectFrom('messages')
      .where('sessionId', '=', sessionId)
      .where('status', '=', 'queued')
      .where('deliveredAt', 'is', null)
      .orderBy('ordinal');

  return {
    insert: ({ messageId, sessionId, text, overrides }) =>
      writer.write(async (trx, announce) => {
        const known = await find(trx, messageId);
        if (known !== undefined) {
          if (known.sessionId === sessionId && known.text === text) return known;
          const what = known.sessionId === sessionId ? 'another text' : 'another session';
          throw new KaiwuError('conflict', `The message id ${messageId} was used before, for ${what}.`, {
            hint: 'Give each message its own id, or leave the id out.',
            details: { messageId },
          });
        }
        const session = await trx
          .selectFrom('sessions')
          .select('sessionId')
          .where('sessionId', '=', sessionId)
          .executeTakeFirst();
        if (session === undefined) throw sessionNotFound(sessionId);
        const createdAt = runtime.now().toISOString();
        await trx
          .insertInto('messages')
          .values({
            messageId,
            sessionId,
            text: toJson(text),
            status: 'queued',
            overrides: toJson(overrides),
            createdAt,
          })
          .execute();
        announce({ type: 'message.changed', sessionId, messageId });
        return { messageId, sessionId, text, status: 'queued', createdAt };
      }),

    get: (messageId) => find(db, messageId),

    undelivered: async (sessionId) => {
      const rows = await selectUndelivered(db, sessionId)
        .select([...COLUMNS, 'overrides'])
        .execute();
      return rows.map(({ overrides, ...row }) => ({
        ...toMessage(row),
        overrides: fromJson(overrides),
      }));
    },

    markDelivered: async (messageId) => {
      await db
        .updateTable('messages')
        .set({ deliveredAt: runtime.now().toISOString() })
        .where('messageId', '=', messageId)
        .where('deliveredAt', 'is', null)
        .execute();
    },

    cancelUndelivered: (sessionId, reason, messageIds) =>
      writer.write(async (trx, announce) => {
        const rows = await selectUndelivered(trx, sessionId).select('messageId').execute();
        const all = rows.map((row) => row.messageId);
        const ids = messageIds === undefined ? all : all.filter((id) => messageIds.includes(id));
        for (const messageId of ids) {
          await trx
            .updateTable('messages')
            .set({ status: 'canceled', reason: toJson(reason) })
            .where('messageId', '=', messageId)
            .execute();
          announce({ type: 'message.changed', sessionId, messageId });
        }
        return ids;
      }),

    withdraw: (messageId) =>
      writer.write(async (trx, announce) => {
        const gone = await trx
          .deleteFrom('messages')
          .where('messageId', '=', messageId)
          .where('status', 'in', ['queued', 'canceled'])
          .where('deliveredAt', 'is', null)
          .returning('sessionId')
          .executeTakeFirst();
        if (gone !== undefined) announce({ type: 'message.changed', sessionId: gone.sessionId, messageId });
      }),

    hasOpen: async (sessionId) => {
      const row = await db
        .selectFrom('messages')
        .select('messageId')
        .where('sessionId', '=', sessionId)
        .where('status', 'in', ['queued', 'running'])
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },

    runningMode: async (sessionId) => {
      const row = await db
        .selectFrom('messages')
        .select('overrides')
        .where('sessionId', '=', sessionId)
        .where('status', 'in', ['queued', 'running'])
        // A turn may run for a moment before its machine's word of that is here: then it is the next one's.
        .orderBy('status', 'desc')
        .orderBy('ordinal')
        .executeTakeFirst();
      return row && fromJson(row.overrides)?.permissionMode;
    },
  };
}
