import { type ErrorCode, fromWireError, KaiwuError } from '../../core/errors.ts';
import type { DaemonMethods } from '../../core/link.ts';
import { PERMISSION_MODES, type PermissionMode, type SessionStatus } from '../../core/session.ts';
import type { SessionContext } from './context.ts';
import { recoverSession } from './recovery.ts';
import { createSession, type ManagedSession } from './session.ts';

type Params<M extends keyof DaemonMethods> = DaemonMethods[M]['params'];

export interface SessionInfo {
  sessionId: string;
  agentId: string;
  status: SessionStatus;
  directory: string;
  /** Of the agent's process. */
  pid?: number;
  queued: number;
}

/** All sessions of the daemon, by id. */
export interface Sessions {
  /** Idempotent by the session's id: the same answer again, whatever became of the session since. */
  start(params: Params<'session.start'>): Promise<void>;
  /** Idempotent by the message's id. It is on disk when this returns. @throws session_not_found | conflict | invalid_input */
  deliver(params: Params<'session.deliver'>): void;
  /** @throws session_not_found */
  get(sessionId: string): ManagedSession;
  /** Those with an agent or a queue; what rests is not listed. */
  status(): SessionInfo[];
  /** The backend has caught up with a session, or is away. */
  resume(sessionId: string): void;
  /** To be awaited before anything else. */
  recover(): Promise<void>;
  shutdown(graceMs: number): Promise<void>;
}

export function createSessions(context: SessionContext): Sessions {
  const { journal } = context;
  const live = new Map<string, ManagedSession>();

  function get(sessionId: string): ManagedSession {
    const known = live.get(sessionId);
    if (known !== undefined) return known;
    if (journal.session(sessionId) === undefined) {
      throw new KaiwuError('session_not_found', `This machine’s daemon has no session ${sessionId}.`, {
        hint: 'It was started on another machine, or the daemon lost its data: start a new session.',
      });
    }
    const session = createSession(context, sessionId);
    live.set(sessionId, session);
    return session;
  }

  return {
    get,
    async start(params) {
      checkMode(params.permissionMode);
      const before = journal.session(params.sessionId);
      if (before === undefined) journal.insertSession(params);
      // Started once, it only restarts for a message; failed at its start, it failed.
      else if (before.acpSessionId !== undefined) return;
      else if (before.status === 'failed' && before.reason !== undefined) {
        const { code, message } = before.reason;
        throw fromWireError({ code: code as ErrorCode, message });
      }
      await get(params.sessionId).start();
    },
    deliver(params) {
      const { sessionId, messageId, text, permissionModeOverride, modelOverride } = params;
      if (permissionModeOverride !== undefined) checkMode(permissionModeOverride);
      const session = get(sessionId);
      journal.insertMessage({
        sessionId,
        messageId,
        text,
        permissionMode: permissionModeOverride,
        modelId: modelOverride,
      });
      session.kick();
    },
    status: () =>
      journal.active().map(({ sessionId, agentId, status, directory, agentPid }) => ({
        sessionId,
        agentId,
        status,
        directory,
        ...(agentPid === undefined ? {} : { pid: agentPid }),
        queued: journal.queued(sessionId).length,
      })),
    resume: (sessionId) => live.get(sessionId)?.resume(),
    async recover() {
      const sessions = journal.active();
      await Promise.all(sessions.map((session) => recoverSession(context, session)));
      for (const { sessionId } of sessions) {
        if (journal.queued(sessionId).length > 0) get(sessionId).kick();
      }
    },
    async shutdown(graceMs) {
      await Promise.all([...live.values()].map((session) => session.shutdown(graceMs)));
    },
  };
}

/** A newer backend may know modes that this daemon does not; none is quietly replaced by another. */
export function checkMode(mode: PermissionMode): void {
  if (PERMISSION_MODES.includes(mode)) return;
  const message = `permissionMode ${JSON.stringify(mode)} is not known to this daemon`;
  throw new KaiwuError('invalid_input', message, {
    hint: `Use one of ${PERMISSION_MODES.join(', ')}, or update Kaiwu on the machine.`,
    details: { issues: [{ path: 'permissionMode', message, received: mode }] },
  });
}
