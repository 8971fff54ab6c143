import type {
  FailureReason,
  MessageStatus,
  PermissionRequest,
  Question,
  Session,
  SessionEvent,
} from './session.ts';

/** What an event changes in a session's row. `null` clears a field. */
export type SessionChange = Partial<
  Pick<
    Session,
    'status' | 'permissionMode' | 'modelId' | 'configOptions' | 'directory' | 'worktree' | 'usage'
  > & {
    reason: FailureReason | null;
    permission: PermissionRequest | null;
    question: Question | null;
    stalledSince: string | null;
    /** Taken only where the user has set no title. */
    agentTitle: string;
  }
>;

/** What an event changes in a message's row. */
export interface MessageChange {
  messageId: string;
  status: MessageStatus;
  reason?: FailureReason;
  /** Message whose turn has the reply, where that is not its own. */
  steered?: string;
}

/** What one event means for the rows that are derived from it. The daemon and the store share this one reading. */
export function projectEvent(event: SessionEvent): { session: SessionChange; message?: MessageChange } {
  switch (event.type) {
    case 'session_started':
      return {
        session: {
          status: event.continues === undefined ? 'idle' : 'running',
          permissionMode: event.permissionMode,
          ...(event.modelId === undefined ? {} : { modelId: event.modelId }),
          ...(event.configOptions === undefined ? {} : { configOptions: event.configOptions }),
          ...(event.directory === undefined ? {} : { directory: event.directory }),
          ...(event.worktree === undefined ? {} : { worktree: event.worktree }),
          reason: null,
          ...NOTHING_OPEN,
        },
      };
    case 'user_message':
      return {
        // The turn that it steers goes on as it was.
        session: event.steered === undefined ? { status: 'running', reason: null, stalledSince: null } : {},
        message: { messageId: event.messageId, status: 'running' },
      };
    case 'permission_requested':
      return { session: { status: 'waiting', permission: { ...event.request, askedAt: event.at } } };
    case 'permission_resolved':
      return { session: { status: 'running', permission: null } };
    case 'question_asked':
      return { session: { status: 'waiting', question: { ...event.request, askedAt: event.at } } };
    case 'question_answered':
      return { session: { status: 'running', question: null } };
    case 'stalled':
      return { session: { stalledSince: event.since } };
    case 'turn_ended':
      return {
        session: {
          status: 'idle',
          ...NOTHING_OPEN,
          ...(event.usage === undefined ? {} : { usage: event.usage }),
        },
        message: {
          messageId: event.messageId,
          status: event.outcome,
          ...reasonOf(event.reason),
          ...(event.steered === undefined ? {} : { steered: event.steered }),
        },
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
    case 'config_options_changed':
      return { session: { configOptions: event.configOptions } };
    case 'session_stopped':
      return { session: { status: 'stopped', reason: event.reason ?? null, ...NOTHING_OPEN } };
    case 'session_failed':
      return { session: { status: 'failed', reason: event.reason, ...NOTHING_OPEN } };
    default:
      return { session: {} };
  }
}

/** No turn runs, so nothing of one waits. */
const NOTHING_OPEN = { permission: null, question: null, stalledSince: null };

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
