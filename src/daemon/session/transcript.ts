import type { SessionEventBody } from '../../core/session.ts';
import { isObject, type Json } from '../acp/json.ts';
import { type AttachmentStore, toText } from './attachments.ts';
import { toBounded } from './bounded.ts';
import { createTextBuffer, type TextOutput } from './text.ts';
import { createToolCalls, type KnownCall } from './tool-calls.ts';

/** Turns what an agent reports during one turn into events. */
export interface TurnTranscript {
  /** One `update` of a `session/update`. Answers whether it says anything new. */
  add(update: Json): boolean;
  /** Merges what is known of a tool call, from whichever message brought it. Answers all that is known. */
  toolCall(call: Json): KnownCall;
  /** Text that is held, as events that the caller stores before its own. */
  take(): SessionEventBody[];
}

/** Kinds that say nothing about the conversation itself. */
const IGNORED = new Set(['user_message_chunk', 'available_commands_update', 'usage_update']);

export function createTurnTranscript(
  messageId: string,
  output: TextOutput,
  attachments: AttachmentStore,
): TurnTranscript {
  const text = createTextBuffer(messageId, output);
  const calls = createToolCalls(messageId);
  /** Last update that was neither text nor a tool call. */
  let lastOther = '';

  function put(event: SessionEventBody): void {
    output.append([...text.take(), event]);
  }

  function merge(call: Json) {
    const merged = calls.merge(attachments.withReferences(call) as Json);
    if (merged.event !== undefined) put(merged.event);
    return merged;
  }

  /** Content of a message that is not text. */
  function toEvent(update: Json): SessionEventBody {
    try {
      const attachment = isObject(update.content) ? attachments.keep(update.content) : undefined;
      return attachment === undefined
        ? toNotice(update)
        : { type: 'agent_attachment', messageId, ...attachment };
    } catch (error) {
      return { type: 'notice', text: `Something that the agent sent was not kept: ${toText(error)}.` };
    }
  }

  function toOther(kind: string, update: Json): SessionEventBody {
    if (kind === 'plan') return { type: 'plan', messageId, entries: toBounded(update.entries) };
    return kind === 'agent_message_chunk' || kind === 'agent_thought_chunk'
      ? toEvent(update)
      : toNotice(update);
  }

  return {
    toolCall: merge,
    add(update) {
      const kind = String(update.sessionUpdate);
      if (kind === 'agent_message_chunk' || kind === 'agent_thought_chunk') {
        const chunk = textOf(update.content);
        if (chunk !== undefined) {
          text.add(kind === 'agent_message_chunk' ? 'text' : 'thought', chunk);
          return chunk !== '';
        }
      } else if (kind === 'tool_call' || kind === 'tool_call_update') {
        return merge(update).event !== undefined;
      } else if (IGNORED.has(kind)) {
        return false;
      }
      const event = toOther(kind, update);
      const json = JSON.stringify(event);
      const isNew = json !== lastOther;
      lastOther = json;
      if (isNew || kind !== 'plan') put(event);
      return isNew;
    },
    take: text.take,
  };
}

function textOf(content: unknown): string | undefined {
  if (!isObject(content)) return undefined;
  const { type, text } = content;
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
