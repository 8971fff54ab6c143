import type { Kysely } from 'kysely';
import type { SessionEvent } from '../../core/session.ts';
import { fromJson } from './rows.ts';
import type { Schema } from './schema.ts';
import type { TailLine, TailReader } from './store.ts';

/** Events read at one step back through a transcript. */
const STEP = 200;

interface Line extends TailLine {
  /** Events of one turn that follow one another are one line. */
  messageId: string;
  block: number;
}

/** Reads a conversation from its end, only as far back as there is room. */
export const createTailReader = (db: Kysely<Schema>): TailReader => ({
  tail: async (sessionId, maxChars) => {
    const lines: Line[] = [];
    let room = maxChars;
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const rows = await db
        .selectFrom('events')
        .select(['seq', 'body'])
        .where('sessionId', '=', sessionId)
        .where('type', 'in', ['user_message', 'agent_text'])
        .where('seq', '<', before)
        .orderBy('seq', 'desc')
        .limit(STEP)
        .execute();
      for (const row of rows) {
        const text = prepend(lines, fromJson(row.body));
        room -= text.length;
        if (room < 0) return { lines: withoutStart(lines, -room), complete: false };
      }
      const oldest = rows.at(-1);
      if (oldest === undefined || rows.length < STEP) return { lines: plain(lines), complete: true };
      before = oldest.seq;
    }
  },
});

/** Puts an event's words in front of what is there. Answers what was added. */
function prepend(lines: Line[], event: SessionEvent): string {
  if (event.type === 'user_message') {
    lines.unshift({ role: 'user', text: event.text, messageId: event.messageId, block: 0 });
    return event.text;
  }
  if (event.type !== 'agent_text') return '';
  const { messageId, block, text } = event;
  const [first] = lines;
  if (first?.role !== 'agent' || first.messageId !== messageId) {
    lines.unshift({ role: 'agent', text, messageId, block });
    return text;
  }
  const added = first.block === block ? text : `${text}\n\n`;
  first.text = added + first.text;
  first.block = block;
  return added;
}

function withoutStart([first, ...rest]: Line[], chars: number): TailLine[] {
  if (first === undefined) return [];
  // Never half a character.
  const text = first.text.slice(chars).replace(/^[\udc00-\udfff]/, '');
  return plain(text === '' ? rest : [{ ...first, text }, ...rest]);
}

const plain = (lines: Line[]): TailLine[] => lines.map(({ role, text }) => ({ role, text }));
