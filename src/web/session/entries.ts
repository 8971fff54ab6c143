import type { FailureReason, PermissionRequest, Question, SessionEvent } from '../../core/session.ts';
import type { TextKey } from '../i18n/index.ts';

interface Base {
  /** Stays the same while more of it arrives. */
  key: string;
  /** Of its first event that is loaded. */
  seq: number;
  at: string;
  /** Events that it is made of so far: more of them, and it has changed. */
  parts: number;
}

/** What a transcript shows: events, put together where several tell of one thing. */
export type Entry = Base &
  (
    | { kind: 'user'; messageId: string; text: string; steered: boolean }
    | { kind: 'text'; messageId: string; block: number; text: string }
    | { kind: 'thought'; messageId: string; block: number; text: string }
    | { kind: 'tool'; title: string; toolKind?: string; status?: string; content?: unknown }
    | { kind: 'plan'; steps: PlanStep[] }
    | {
        kind: 'permission';
        request: PermissionRequest;
        outcome?: 'allowed' | 'refused' | 'canceled';
        by?: string;
      }
    | { kind: 'question'; request: Question; answer?: string; by?: string }
    | { kind: 'attachment'; name: string; detail: string }
    | { kind: 'note'; tone: 'plain' | 'bad' | 'warn'; text: Note; reason?: FailureReason }
  );

/** Words of the page with what is filled in, or words of the agent. */
export type Note = { key: TextKey; values?: Record<string, string> } | { words: string };

export interface PlanStep {
  text: string;
  status: string;
}

type Draft = Entry extends infer E ? (E extends Base ? Omit<E, keyof Base> : never) : never;

/**
 * Puts events together, oldest first. What has not changed since `before` is the very same object, so that only the rest is
 * drawn again.
 */
export function toEntries(
  events: readonly SessionEvent[],
  before: ReadonlyMap<string, Entry>,
): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const event of events) {
    const made = toDraft(event, (key) => entries.get(key));
    if (made === undefined) continue;
    const [key, draft] = made;
    const known = entries.get(key);
    entries.set(key, {
      ...draft,
      key,
      seq: known?.seq ?? event.seq,
      at: known?.at ?? event.at,
      parts: (known?.parts ?? 0) + 1,
    });
  }
  for (const [key, entry] of entries) {
    const old = before.get(key);
    if (old !== undefined && old.parts === entry.parts && old.seq === entry.seq) entries.set(key, old);
  }
  return entries;
}

function toDraft(
  event: SessionEvent,
  known: (key: string) => Entry | undefined,
): [string, Draft] | undefined {
  const own = `${event.type}:${event.seq}`;
  const note = (
    text: Note,
    tone: 'plain' | 'bad' | 'warn' = 'plain',
    reason?: FailureReason,
  ): [string, Draft] => [own, { kind: 'note', text, tone, ...(reason === undefined ? {} : { reason }) }];
  switch (event.type) {
    case 'user_message':
      return [
        `user:${event.messageId}`,
        { kind: 'user', messageId: event.messageId, text: event.text, steered: event.steered !== undefined },
      ];
    case 'agent_text':
    case 'agent_thought': {
      const kind = event.type === 'agent_text' ? 'text' : 'thought';
      const key = blockKey(event.messageId, kind, event.block);
      const old = known(key);
      const text =
        (old !== undefined && 'text' in old && typeof old.text === 'string' ? old.text : '') + event.text;
      const { messageId, block } = event;
      return [key, { kind, messageId, block, text }];
    }
    case 'tool_call': {
      const { title, kind, status, content } = event;
      return [
        `tool:${event.messageId}:${event.toolCallId}`,
        { kind: 'tool', title: title ?? event.toolCallId, toolKind: kind, status, content },
      ];
    }
    case 'plan':
      return [`plan:${event.messageId}`, { kind: 'plan', steps: toSteps(event.entries) }];
    case 'permission_requested':
      return [`ask:${event.request.requestId}`, { kind: 'permission', request: event.request }];
    case 'permission_resolved': {
      const asked = known(`ask:${event.requestId}`);
      if (asked?.kind !== 'permission') return undefined;
      return [
        asked.key,
        { kind: 'permission', request: asked.request, outcome: event.outcome, by: event.by },
      ];
    }
    case 'question_asked':
      return [`ask:${event.request.requestId}`, { kind: 'question', request: event.request }];
    case 'question_answered': {
      const asked = known(`ask:${event.requestId}`);
      if (asked?.kind !== 'question') return undefined;
      return [asked.key, { kind: 'question', request: asked.request, answer: event.answer, by: event.by }];
    }
    case 'agent_attachment': {
      const size = event.bytes === undefined ? '' : `${event.bytes.toLocaleString()} B`;
      const detail = [event.mimeType, size, event.path ?? event.uri].filter((part) => part).join(' · ');
      return [own, { kind: 'attachment', name: event.name ?? event.kind, detail }];
    }
    case 'session_started':
      return note({ key: 'sessionStarted', values: { how: `resumed_${event.resumed}` } });
    case 'mode_changed':
      return note({ key: 'modeChanged', values: { value: `mode_${event.permissionMode}` } });
    case 'model_changed':
      return note({ key: 'modelChanged', values: { value: event.modelId } });
    case 'session_stopped':
      return note({ key: 'sessionStopped' }, 'plain', event.reason);
    case 'session_failed':
      return note({ key: 'sessionFailed' }, 'bad', event.reason);
    case 'message_canceled':
      return note({ key: 'turn_canceled' }, 'warn', event.reason);
    case 'turn_ended':
      if (event.outcome === 'completed') return undefined;
      return note(
        { key: `turn_${event.outcome}` },
        event.outcome === 'failed' ? 'bad' : 'warn',
        event.reason,
      );
    case 'stalled':
      return event.since === null
        ? note({ key: 'goesOn' })
        : note({ key: 'nothingHeard', values: { when: event.since } }, 'warn');
    case 'notice':
      return note({ words: event.text });
    default:
      return undefined;
  }
}

export const blockKey = (messageId: string, kind: string, block: number): string =>
  `${kind}:${messageId}:${block}`;

function toSteps(entries: unknown): PlanStep[] {
  if (!Array.isArray(entries)) return [];
  return entries.map((step: { content?: unknown; status?: unknown } | null) => ({
    text: typeof step?.content === 'string' ? step.content : '',
    status: typeof step?.status === 'string' ? step.status : '',
  }));
}
