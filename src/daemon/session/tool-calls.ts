import { EVENT_LIMITS } from '../../core/link.ts';
import type { SessionEventBody } from '../../core/session.ts';
import type { Json } from '../acp/json.ts';
import { toBounded, toShortId } from './bounded.ts';
import { isFileSending, withoutParticulars } from './own-tools.ts';

/** What is remembered of a turn's tool calls, characters of JSON. The calls not heard of for longest go first. */
const MAX_CHARS = 16 * 1024 * 1024;

/** Merges what an agent says of its tool calls. Updates may carry an id alone, come twice, or before their call. */
export interface ToolCalls {
  /** Answers all that is known now, whether that is all that was said, and the event to store unless nothing is new. */
  merge(call: Json): KnownCall & { event?: SessionEventBody };
}

export interface KnownCall {
  known: Json;
  /** Nothing of it was too large to be remembered. */
  isWhole: boolean;
}

export function createToolCalls(messageId: string): ToolCalls {
  const calls = new Map<string, KnownCall & { json: string }>();
  let chars = 0;

  function remember(id: string, call: KnownCall & { json: string }): void {
    chars += call.json.length - (calls.get(id)?.json.length ?? 0);
    calls.delete(id);
    calls.set(id, call);
    for (const [oldId, old] of calls) {
      if (chars <= MAX_CHARS || oldId === id) break;
      calls.delete(oldId);
      chars -= old.json.length;
    }
  }

  return {
    merge(call) {
      const id = typeof call.toolCallId === 'string' ? toShortId(call.toolCallId) : 'unknown';
      const before = calls.get(id);
      const merged = { ...before?.known, ...presentIn(call) };
      const known = bound(isFileSending(merged) ? withoutParticulars(merged) : merged);
      const isWhole = before?.isWhole !== false && isSame(merged, known);
      const { title, kind, status, ...content } = known;
      const event: SessionEventBody = {
        type: 'tool_call',
        messageId,
        toolCallId: id,
        ...(typeof title === 'string' ? { title } : {}),
        ...(typeof kind === 'string' ? { kind } : {}),
        ...(typeof status === 'string' ? { status } : {}),
        ...(Object.keys(content).length === 0 ? {} : { content }),
      };
      const json = JSON.stringify(event);
      remember(id, { known, isWhole, json });
      // A repeated update is no progress, and must not look like it.
      return json === before?.json ? { known, isWhole } : { known, isWhole, event };
    },
  };
}

/** `null` means "as before". */
const presentIn = ({ sessionUpdate: _kind, ...call }: Json): Json =>
  Object.fromEntries(Object.entries(call).filter(([, value]) => value !== null && value !== undefined));

/** `display` is how Kaiwu itself shows a file that was sent: an agent does not get to say it. */
function bound({ toolCallId: _id, display: _display, title, kind, status, ...content }: Json): Json {
  return presentIn({
    title: cut(title, EVENT_LIMITS.title),
    kind: cut(kind, EVENT_LIMITS.word),
    status: cut(status, EVENT_LIMITS.word),
    ...(toBounded(content) as Json),
  });
}

/** Bounding leaves a small value as it is, the very same. */
const isSame = (merged: Json, known: Json): boolean =>
  ['rawInput', 'locations', 'content'].every((name) => (merged[name] ?? undefined) === known[name]);

const cut = (value: unknown, max: number): unknown =>
  typeof value === 'string' ? value.slice(0, max) : value;
