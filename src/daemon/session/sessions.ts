import { type ErrorCode, fromWireError, KaiwuError } from '../../core/errors.ts';
import type { DaemonMethods } from '../../core/link.ts';
import type { SessionStatus } from '../../core/session.ts';
import type { StoredMessage, StoredSession } from '../journal/rows.ts';
import type { SessionContext } from './context.ts';
import { inHome } from './in-home.ts';
import { isParked } from './parked.ts';
import { recoverSession } from './recovery.ts';
import { createSession, type ManagedSession } from './session.ts';
import { checkDelivery, checkMode, checkStart, toForkId } from './start-params.ts';
import { checkWithin } from './within.ts';
import { archiveWorkspace } from './workspace.ts';

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
  /**
   * Idempotent by the message's id. It is on disk when this returns.
   * @throws session_not_found | conflict | invalid_input | unsupported
   */
  deliver(params: Params<'session.deliver'>): void;
  /** Stops it and removes its worktree where nothing would be lost. Idempotent. @throws session_not_found */
  archive(sessionId: string): Promise<DaemonMethods['session.archive']['result']>;
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

  /** What an agent cannot do is refused whether a turn runs or not. Before its first start nobody knows. */
  function checkSteering(sessionId: string): void {
    const { acpSessionId, features, agentId } = journal.session(sessionId) as StoredSession;
    if (acpSessionId === undefined || features.includes('steer')) return;
    throw new KaiwuError('unsupported', `${context.registry.describe(agentId).name} cannot be steered.`, {
      hint: 'Send the message with the delivery queue or interrupt.',
      details: { sessionId, delivery: 'steer' },
    });
  }

  return {
    get,
    async start(wanted) {
      checkStart(wanted);
      const params = inHome(wanted, context.env);
      if (journal.session(params.sessionId) === undefined) await checkWithin(params);
      const before = journal.session(params.sessionId);
      if (before === undefined) {
        toForkId(journal, params);
        journal.insertSession(params);
      }
      // Started once, it only restarts for a message; failed at its start, it failed.
      else if (before.acpSessionId !== undefined) return;
      else if (before.status === 'failed' && before.reason !== undefined) {
        const { code, message } = before.reason;
        throw fromWireError({ code: code as ErrorCode, message });
      }
      await get(params.sessionId).start();
    },
    deliver(params) {
      const {
        sessionId,
        messageId,
        text,
        permissionModeOverride,
        modelOverride,
        delivery = 'queue',
      } = params;
      checkDelivery(delivery);
      if (permissionModeOverride !== undefined) checkMode(permissionModeOverride);
      const session = get(sessionId);
      if (delivery === 'steer') checkSteering(sessionId);
      const message: StoredMessage = {
        sessionId,
        messageId,
        text,
        permissionMode: permissionModeOverride,
        modelId: modelOverride,
        delivery,
        state: delivery === 'steer' && session.isSteerable ? 'steering' : 'queued',
      };
      const isNew = journal.insertMessage(message);
      if (isNew && message.state === 'steering') session.steer(message);
      if (isNew && delivery === 'interrupt') {
        session.interrupt().catch((error: unknown) => {
          context.log.error({ sessionId, error }, 'a turn could not be interrupted for a message');
        });
      }
      session.kick();
    },
    async archive(sessionId) {
      await get(sessionId).stop();
      return archiveWorkspace(context, sessionId);
    },
    status: () =>
      journal.active().map(({ sessionId, agentId, status, directory, worktree, agentPid }) => ({
        sessionId,
        agentId,
        status,
        directory: worktree?.directory ?? directory,
        ...(agentPid === undefined ? {} : { pid: agentPid }),
        queued: journal.queued(sessionId).length,
      })),
    resume: (sessionId) => live.get(sessionId)?.resume(),
    async recover() {
      const sessions = journal.active();
      await Promise.all(sessions.map((session) => recoverSession(context, session)));
      for (const { sessionId } of sessions) {
        const waits = isParked(journal.session(sessionId) as StoredSession, journal.running(sessionId));
        if (waits || journal.queued(sessionId).length > 0) get(sessionId).kick();
      }
    },
    async shutdown(graceMs) {
      const endings = [...live].map(([sessionId, session]) =>
        session.shutdown(graceMs).catch((error: unknown) => {
          context.log.error({ sessionId, error }, 'how a session ended could not be stored');
        }),
      );
      await Promise.all(endings);
    },
  };
}
