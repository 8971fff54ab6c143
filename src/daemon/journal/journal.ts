import { KaiwuError } from '../../core/errors.ts';
import { APPEND_MAX_BYTES, APPEND_MAX_EVENTS } from '../../core/link.ts';
import type { SqliteHandle } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { projectEvent } from '../../core/projection.ts';
import type { AgentFeature } from '../../core/agent.ts';
import type { Offer } from '../agents/lessons.ts';
import type { AgentOption, SessionEvent, SessionEventBody } from '../../core/session.ts';
import {
  type Continuation,
  type NewSession,
  type StoredMessage,
  type StoredSession,
  type StoredWorktree,
  toJson,
  toMessage,
  toSession,
} from './rows.ts';
import { migrate } from './schema.ts';
import { prepareAll } from './statements.ts';

/** The daemon's disk: sessions, messages to run, and events until the backend has them. Synchronous. */
export interface Journal {
  /** Runs `work` as one transaction; inside another one it joins that. Listeners hear of it after the commit. */
  transaction<T>(work: () => T): T;
  /** Hears which session has new events and the last one's number, once they are committed. */
  onAppend(listener: (sessionId: string, lastSeq: number) => void): void;

  insertSession(session: NewSession): void;
  session(sessionId: string): StoredSession | undefined;
  /** Sessions that have an agent, a message to run, or have not come to rest. */
  active(): StoredSession[];
  /** The last event of every session. */
  tails(): { sessionId: string; lastSeq: number }[];
  /** Notes the process that serves a session, or that there is none. */
  setProcess(sessionId: string, process: { pid: number; startTime: string | undefined } | undefined): void;
  setFeatures(sessionId: string, features: AgentFeature[]): void;
  setWorktree(sessionId: string, worktree: StoredWorktree | undefined): void;
  setContinuation(sessionId: string, continuation: Continuation | undefined): void;
  setReplay(sessionId: string, text: string | undefined): void;
  /** Models that the agent reported last, in any session. */
  lastModels(agentId: string): AgentOption[];
  /** What an agent offered when it last started; undefined where it has not. */
  offer(agentId: string): Offer | undefined;
  setOffer(agentId: string, offer: Offer): void;

  /** Numbers, projects and stores events. */
  append(sessionId: string, bodies: SessionEventBody[]): SessionEvent[];

  /** Answers whether it is new. @throws conflict when the id belongs to another session */
  insertMessage(message: Omit<StoredMessage, 'steered'>): boolean;
  /** Puts a message back into the queue that the agent did not take inside a turn. */
  requeue(messageId: string): void;
  /** Queued messages, those that interrupt first, then the oldest. */
  queued(sessionId: string): StoredMessage[];
  /** The message whose turn has begun and not ended. */
  running(sessionId: string): StoredMessage | undefined;
  /** Messages that have reached the agent inside that turn. */
  steered(sessionId: string): StoredMessage[];
  /** Messages that are on their way into that turn. */
  steering(sessionId: string): StoredMessage[];

  /** Events after `seq` that fit into one append, oldest first. */
  unsent(sessionId: string, after: number): SessionEvent[];
  /** Puts another event in the place of an unsent one of the same number. */
  replaceUnsent(sessionId: string, event: SessionEvent): void;
  /** Drops the events that the backend holds. */
  acknowledge(sessionId: string, seq: number): void;
  /** Never gives out a number again that the backend has already seen. */
  skipTo(sessionId: string, seq: number): void;
  sessionsWithUnsent(): string[];
  unsentCount(): number;
}

export function createJournal(db: SqliteHandle, runtime: Runtime): Journal {
  migrate(db);
  const sql = prepareAll(db);
  let listener: ((sessionId: string, lastSeq: number) => void) | undefined;
  let depth = 0;
  const appended = new Map<string, number>();

  function transaction<T>(work: () => T): T {
    if (depth > 0) return work();
    db.exec('BEGIN IMMEDIATE');
    depth += 1;
    let result: T;
    try {
      result = work();
      db.exec('COMMIT');
    } catch (error) {
      appended.clear();
      db.exec('ROLLBACK');
      throw error;
    } finally {
      depth -= 1;
    }
    const changed = [...appended];
    appended.clear();
    for (const [sessionId, lastSeq] of changed) listener?.(sessionId, lastSeq);
    return result;
  }

  function project(sessionId: string, event: SessionEvent): void {
    const { session, message } = projectEvent(event);
    if (session.status !== undefined) sql.setStatus.run(session.status, sessionId);
    if (session.permissionMode !== undefined) sql.setMode.run(session.permissionMode, sessionId);
    if (session.modelId !== undefined) sql.setModel.run(session.modelId, sessionId);
    if (session.reason !== undefined) {
      sql.setReason.run(toJson(session.reason), sessionId);
    }
    if (session.configOptions !== undefined)
      sql.setConfigOptions.run(toJson(session.configOptions), sessionId);
    if (session.permission !== undefined) sql.setPermission.run(toJson(session.permission), sessionId);
    if (session.question !== undefined) sql.setQuestion.run(toJson(session.question), sessionId);
    if (event.type === 'user_message' && event.steered !== undefined)
      sql.setSteered.run(event.steered, event.messageId);
    if (event.type === 'session_started') {
      sql.setStarted.run(event.acpSessionId, JSON.stringify(event.models), sessionId);
    }
    if (event.type === 'model_changed' && event.models !== undefined)
      sql.setModels.run(JSON.stringify(event.models), sessionId);
    if (message?.status === 'running') sql.setRunning.run(message.messageId);
    else if (message !== undefined) sql.setDone.run(message.messageId);
  }

  const running = (sessionId: string) => sql.openMessages.all(sessionId, 'running').map(toMessage);

  return {
    transaction,
    onAppend(next) {
      listener = next;
    },

    insertSession(session) {
      sql.insertSession.run(
        session.sessionId,
        session.agentId,
        session.directory,
        session.permissionMode,
        session.modelId,
        session.createDirectory === true ? 1 : 0,
        JSON.stringify(session.additionalDirectories ?? []),
        JSON.stringify(session.environment ?? {}),
        toJson(session.worktree),
        session.forkOf,
        toJson(session.mcpServers),
      );
    },
    session(sessionId) {
      const row = sql.session.get(sessionId);
      return row === undefined ? undefined : toSession(row);
    },
    active: () => sql.active.all().map(toSession),
    tails: () =>
      sql.tails.all().map((row) => ({ sessionId: String(row.session_id), lastSeq: Number(row.last_seq) })),
    setProcess(sessionId, process) {
      sql.setProcess.run(process?.pid, process?.startTime, sessionId);
    },
    setFeatures: (sessionId, features) => void sql.setFeatures.run(JSON.stringify(features), sessionId),
    setWorktree: (sessionId, worktree) => void sql.setWorktree.run(toJson(worktree), sessionId),
    setContinuation: (sessionId, next) => void sql.setContinuation.run(toJson(next), sessionId),
    setReplay: (sessionId, text) => void sql.setReplay.run(text, sessionId),
    lastModels(agentId) {
      const row = sql.lastModels.get(agentId);
      return row === undefined ? [] : (JSON.parse(String(row.models)) as AgentOption[]);
    },

    offer(agentId) {
      const row = sql.offer.get(agentId);
      return row === undefined ? undefined : (JSON.parse(String(row.offer)) as Offer);
    },
    setOffer: (agentId, offer) => void sql.setOffer.run(agentId, JSON.stringify(offer)),

    append: (sessionId, bodies) =>
      transaction(() => {
        const row = sql.lastSeq.get(sessionId);
        if (row === undefined)
          throw new KaiwuError('session_not_found', `This daemon has no session ${sessionId}.`);
        let seq = Number(row.last_seq);
        const at = runtime.now().toISOString();
        const events = bodies.map((body): SessionEvent => ({ ...body, seq: ++seq, at }));
        for (const event of events) {
          sql.insertEvent.run(sessionId, event.seq, JSON.stringify(event));
          project(sessionId, event);
        }
        sql.setLastSeq.run(seq, sessionId);
        if (events.length > 0) appended.set(sessionId, seq);
        return events;
      }),

    insertMessage: (message) =>
      transaction(() => {
        const known = sql.messageSession.get(message.messageId);
        if (known !== undefined) {
          if (known.session_id === message.sessionId) return false;
          throw new KaiwuError(
            'conflict',
            `Message id ${message.messageId} was already used in session ${String(known.session_id)}.`,
            { hint: 'Send it again with another messageId, or without one.' },
          );
        }
        const { messageId, sessionId, text, permissionMode, modelId, delivery, state } = message;
        sql.insertMessage.run(messageId, sessionId, text, permissionMode, modelId, delivery, state);
        return true;
      }),
    requeue: (messageId) => void sql.requeue.run(messageId),
    queued: (sessionId) => sql.openMessages.all(sessionId, 'queued').map(toMessage),
    running: (sessionId) => running(sessionId).find(({ steered }) => steered === undefined),
    steered: (sessionId) => running(sessionId).filter(({ steered }) => steered !== undefined),
    steering: (sessionId) => sql.openMessages.all(sessionId, 'steering').map(toMessage),

    unsent(sessionId, after) {
      const rows = sql.unsent.all(sessionId, after, APPEND_MAX_EVENTS, APPEND_MAX_BYTES);
      return rows.map((row) => JSON.parse(String(row.json)) as SessionEvent);
    },
    replaceUnsent(sessionId, event) {
      sql.replaceUnsent.run(JSON.stringify(event), sessionId, event.seq);
    },
    acknowledge(sessionId, seq) {
      sql.acknowledge.run(sessionId, seq);
    },
    skipTo(sessionId, seq) {
      sql.skipTo.run(seq, sessionId, seq);
    },
    sessionsWithUnsent: () => sql.sessionsWithUnsent.all().map((row) => String(row.session_id)),
    unsentCount: () => Number(sql.unsentCount.get()?.n ?? 0),
  };
}
