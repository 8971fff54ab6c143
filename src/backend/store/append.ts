import type { Kysely, Transaction } from 'kysely';
import { sql } from 'kysely';
import type { MessageChange, SessionChange } from '../../core/projection.ts';
import { projectEvent, replyOf, searchableText } from '../../core/projection.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { AgentOption, SessionEvent } from '../../core/session.ts';
import { isFinal } from '../../core/session.ts';
import { fromJson, toJson } from './rows.ts';
import { toColumns } from './session-change.ts';
import type { Schema } from './schema.ts';
import { sessionNotFound } from './session-rows.ts';
import { revokeSessionTokens } from './session-tokens.ts';
import type { EventAppender } from './store.ts';
import { fold } from './text.ts';
import type { Announce, Writer } from './writer.ts';

/** Rows of one INSERT, well below what a database takes in parameters; and rows of one step back through a turn. */
const CHUNK = 500;

export function createEventAppender(writer: Writer, runtime: Runtime): EventAppender {
  return {
    append: (sessionId, events) =>
      writer.write(async (trx, announce, noteRevoked) => {
        const session = await trx
          .selectFrom('sessions')
          .select(['lastSeq', 'title', 'titleSource', 'directory'])
          .where('sessionId', '=', sessionId)
          .executeTakeFirst();
        if (session === undefined) throw sessionNotFound(sessionId);
        const fresh = following(session.lastSeq, events);
        const first = fresh[0];
        if (first === undefined) return { ackedSeq: session.lastSeq };
        const ackedSeq = session.lastSeq + fresh.length;

        await insertEvents(trx, sessionId, fresh);
        const { change, models, messages } = foldEvents(fresh);
        const at = runtime.now().toISOString();
        await trx
          .updateTable('sessions')
          .set({
            ...toColumns(change, session, at),
            ...(models === undefined ? {} : { models: toJson(models) }),
            lastSeq: ackedSeq,
            updatedAt: at,
          })
          .where('sessionId', '=', sessionId)
          .execute();
        if (change.status === 'stopped' || change.status === 'failed')
          await revokeSessionTokens(trx, sessionId, at, noteRevoked);
        if (Object.keys(change).length > 0)
          announce({ type: 'session.changed', sessionId, waits: beginsToWait(change) });
        for (const message of messages) await applyToMessage(trx, sessionId, message, announce);
        announce({ type: 'transcript.appended', sessionId, fromSeq: first.seq, toSeq: ackedSeq });
        return { ackedSeq };
      }),
  };
}

/** Whether the session waits for a person from now on. */
const beginsToWait = ({ status, permission, question, stalledSince }: SessionChange): boolean =>
  status === 'failed' || [permission, question, stalledSince].some((found) => found != null);

/** The events that continue what is stored: doubles left out, nothing after a gap. */
function following(lastSeq: number, events: SessionEvent[]): SessionEvent[] {
  const fresh: SessionEvent[] = [];
  for (const event of events) {
    const expected = lastSeq + fresh.length + 1;
    if (event.seq < expected) continue;
    if (event.seq !== expected) break;
    fresh.push(event);
  }
  return fresh;
}

async function insertEvents(trx: Transaction<Schema>, sessionId: string, events: SessionEvent[]) {
  const rows = events.map((event) => {
    const text = searchableText(event);
    return {
      sessionId,
      seq: event.seq,
      at: event.at,
      type: event.type,
      messageId: 'messageId' in event ? event.messageId : null,
      body: toJson(event),
      searchText: text === undefined ? null : fold(text),
    };
  });
  for (let i = 0; i < rows.length; i += CHUNK) {
    await trx
      .insertInto('events')
      .values(rows.slice(i, i + CHUNK))
      .execute();
  }
}

/** What the events together change: later ones win, field by field. */
function foldEvents(events: SessionEvent[]) {
  const change: SessionChange = {};
  const messages = new Map<string, MessageChange>();
  let models: AgentOption[] | undefined;
  for (const event of events) {
    const projected = projectEvent(event);
    Object.assign(change, projected.session);
    if (projected.message !== undefined) messages.set(projected.message.messageId, projected.message);
    if (event.type === 'session_started' || event.type === 'model_changed') models = event.models ?? models;
  }
  return { change, models, messages: messages.values() };
}

/** Nothing happens for a message that the backend does not know. */
async function applyToMessage(
  trx: Transaction<Schema>,
  sessionId: string,
  { messageId, status, reason, steered = messageId }: MessageChange,
  announce: Announce,
) {
  const reply = isFinal(status) ? await readReply(trx, sessionId, steered) : undefined;
  const { numUpdatedRows } = await trx
    .updateTable('messages')
    .set({ status, reason: toJson(reason), reply: toJson(reply) })
    .where('messageId', '=', messageId)
    .where('sessionId', '=', sessionId)
    .executeTakeFirst();
  if (numUpdatedRows > 0) announce({ type: 'message.changed', sessionId, messageId });
}

/** Reads a turn's text from its end, only as far as its last block reaches: a turn can be long. */
async function readReply(db: Kysely<Schema>, sessionId: string, messageId: string) {
  const texts: SessionEvent[] = [];
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const rows = await db
      .selectFrom('events')
      .select(['seq', 'body'])
      .where('sessionId', '=', sessionId)
      .where('messageId', '=', messageId)
      // Written out, so that the index of these events alone can be used.
      .where('type', '=', sql.lit('agent_text'))
      .where('seq', '<', before)
      .orderBy('seq', 'desc')
      .limit(CHUNK)
      .execute();
    texts.unshift(...rows.map((row) => fromJson(row.body)).toReversed());
    const oldest = rows.at(-1);
    if (oldest === undefined || rows.length < CHUNK || !sameBlock(texts)) return replyOf(texts, messageId);
    before = oldest.seq;
  }
}

function sameBlock(texts: SessionEvent[]): boolean {
  const first = texts[0];
  const last = texts.at(-1);
  return first?.type === 'agent_text' && last?.type === 'agent_text' && first.block === last.block;
}
