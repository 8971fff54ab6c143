import type { FailureReason, MessageStatus, PermissionRequest, Session, SessionEvent } from './session.ts';

/** What an event changes in a session's row. `null` clears a field. */
export type SessionChange = Partial<
  Pick<Session, 'status' | 'permissionMode' | 'modelId'> & {
    reason: FailureReason | null;
    permission: PermissionRequest | null;
    /** Taken only where the user has set no title. */
    agentTitle: string;
  }
>;

/** What an event changes in a message's row. */
export interface MessageChange {
  messageId: string;
  status: MessageStatus;
  reason?: FailureReason;
}

/** What one event means for the rows that are derived from it. The daemon and the store share this one reading. */
export function projectEvent(event: SessionEvent): { session: SessionChange; message?: MessageChange } {
  switch (event.type) {
    case 'session_started':
      return {
        session: {
          status: 'idle',
          permissionMode: event.permissionMode,
          ...(event.modelId === undefined ? {} : { modelId: event.modelId }),
          reason: null,
          permission: null,
        },
      };
    case 'user_message':
      return {
        session: { status: 'running', reason: null },
        message: { messageId: event.messageId, status: 'running' },
      };
    case 'permission_requested':
      return { session: { status: 'waiting', permission: event.request } };
    case 'permission_resolved':
      return { session: { status: 'running', permission: null } };
    case 'turn_ended':
      return {
        session: { status: 'idle', permission: null },
        message: { messageId: event.messageId, status: event.outcome, ...reasonOf(event.reason) },
      };
    case 'message_canceled':
      return {
        session: {},
        message: { messageId: event.messageId, status: 'canceled', reason: event.reason },
      };
    case 'title_suggested':
      return { session: { agentTitle: event.title } };
    case 'mode_changed':
      return { session: { permissionMode: event.permissionMode } };
    case 'model_changed':
      return { session: { modelId: event.modelId } };
    case 'session_stopped':
      return { session: { status: 'stopped', reason: event.reason ?? null, permission: null } };
    case 'session_failed':
      return { session: { status: 'failed', reason: event.reason, permission: null } };
    default:
      return { session: {} };
  }
}

const reasonOf = (reason: FailureReason | undefined) => (reason === undefined ? {} : { reason });

/** Text of an event that people search for; undefined where it has none. */
export function searchableText(event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'user_message':
    case 'agent_text':
    case 'agent_thought':
    case 'notice':
      return event.text;
    case 'tool_call':
    case 'title_suggested':
      return event.title;
    case 'turn_ended':
    case 'session_failed':
    case 'session_stopped':
      return event.reason?.message;
    default:
      return undefined;
  }
}

/** The final text of a turn: the last block of agent text of that message. */
export function replyOf(events: SessionEvent[], messageId: string): string | undefined {
  const texts = events.filter((e) => e.type === 'agent_text' && e.messageId === messageId);
  const last = texts.at(-1);
  if (last?.type !== 'agent_text') return undefined;
  return texts.map((e) => (e.type === 'agent_text' && e.block === last.block ? e.text : '')).join('');
}
