import type { SessionEventBody } from '../../core/session.ts';
import { toBounded } from './bounded.ts';
import { createTextBuffer, type TextOutput } from './text.ts';
import { createToolCalls } from './tool-calls.ts';

type Json = Record<string, unknown>;

/** Turns what an agent reports during one turn into events. */
export interface TurnTranscript {
  /** One `update` of a `session/update`. */
  add(update: Json): void;
  /** Merges what is known of a tool call, from whichever message brought it. Answers all that is known. */
  toolCall(call: Json): Json;
  /** Events that the turn's end is to store before its own. */
  finish(): SessionEventBody[];
}

/** Kinds that say nothing about the conversation itself. */
const IGNORED = new Set(['user_message_chunk', 'available_commands_update', 'usage_update']);

export function createTurnTranscript(messageId: string, output: TextOutput): TurnTranscript {
  const text = createTextBuffer(messageId, output);
  const calls = createToolCalls(messageId);

  function put(event: SessionEventBody): void {
    text.interrupt();
    output.append([event]);
  }

  function toolCall(call: Json): Json {
    const { known, event } = calls.merge(call);
    if (event !== undefined) put(event);
    return known;
  }

  return {
    toolCall,
    add(update) {
      const kind = String(update.sessionUpdate);
      if (kind === 'agent_message_chunk' || kind === 'agent_thought_chunk') {
        const chunk = textOf(update.content);
        if (chunk !== undefined) text.add(kind === 'agent_message_chunk' ? 'text' : 'thought', chunk);
        else put(toNotice(update));
      } else if (kind === 'tool_call' || kind === 'tool_call_update') {
        toolCall(update);
      } else if (kind === 'plan') {
        put({ type: 'plan', messageId, entries: toBounded(update.entries) });
      } else if (!IGNORED.has(kind)) {
        put(toNotice(update));
      }
    },
    finish: () => text.finish(),
  };
}

function textOf(content: unknown): string | undefined {
  if (typeof content !== 'object' || content === null) return undefined;
  const { type, text } = content as Json;
  return type === 'text' && typeof text === 'string' ? text : undefined;
}

/** What an agent reports outside any turn. */
export const toLateEvents = (update: Json): SessionEventBody[] =>
  IGNORED.has(String(update.sessionUpdate)) ? [] : [toNotice(update)];

/** An update that has no event of its own. Its data is kept whole, whatever it is: a later Kaiwu may know it. */
function toNotice(update: Json): SessionEventBody {
  const title = [update.title, update.description, textOf(update.content)].filter(
    (part) => typeof part === 'string',
  );
  const text = title.length > 0 ? title.join(': ') : `The agent sent ${String(update.sessionUpdate)}.`;
  return { type: 'notice', text: text.slice(0, 4000), data: toBounded(update) };
}
