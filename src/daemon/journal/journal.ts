import { KaiwuError } from '../../core/errors.ts';
import { APPEND_MAX_BYTES, APPEND_MAX_EVENTS } from '../../core/link.ts';
import type { SqliteHandle } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { projectEvent } from '../../core/projection.ts';
import type { AgentOption, SessionEvent, SessionEventBody } from '../../core/session.ts';
import { type StoredMessage, type StoredSession, toMessage, toSession } from './rows.ts';
import { migrate } from './schema.ts';

/** The daemon's disk: sessions, messages to run, and events until the backend has them. Synchronous. */
export interface Journal {
  /** Runs `work` as one transaction; inside another one it joins that. Listeners hear of it after the commit. */
  transaction<T>(work: () => T): T;
  /** Hears which session has new events and the last one's number, once they are committed. */
  onAppend(listener: (sessionId: string, lastSeq: number) => void): void;

  insertSession(
    session: Pick<StoredSession, 'sessionId' | 'agentId' | 'directory' | 'permissionMode' | 'modelId'>,
  ): void;
  session(sessionId: string): StoredSession | undefined;
  /** Sessions that have an agent, a message to run, or have not come to rest. */
  active(): StoredSession[];
  /** The last event of every session. */
  tails(): { sessionId: string; lastSeq: number }[];
  /** Notes the process that serves a session, or that there is none. */
  setProcess(sessionId: string, process: { pid: number; startTime: string | undefined } | undefined): void;
  setModels(sessionId: string, models: AgentOption[]): void;
  /** Models that the agent reported last, in any session. */
  lastModels(agentId: string): AgentOption[];

  /** Numbers, projects and stores events. */
  append(sessionId: string, bodies: SessionEventBody[]): SessionEvent[];

  /** Answers whether it is new. @throws conflict when the id belongs to another session */
  insertMessage(message: Omit<StoredMessage, 'state'>): boolean;
  /** Queued messages, oldest first. */
  queued(sessionId: string): StoredMessage[];
  /** The message whose turn has begun and not ended. */
  running(sessionId: string): StoredMessage | undefined;

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
      sql.setReason.run(session.reason === null ? null : JSON.stringify(session.reason), sessionId);
    }
    if (event.type === 'session_started') {
      sql.setStarted.run(event.acpSessionId, JSON.stringify(event.models), sessionId);
    }
    if (message?.status === 'running') sql.setRunning.run(message.messageId);
    else if (message !== undefined) sql.setDone.run(message.messageId);
  }

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
    setModels(sessionId, models) {
      sql.setModels.run(JSON.stringify(models), sessionId);
    },
    lastModels(agentId) {
      const row = sql.lastModels.get(agentId);
      return row === undefined ? [] : (JSON.parse(String(row.models)) as AgentOption[]);
    },

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
        const { messageId, sessionId, text, permissionMode, modelId } = message;
        sql.insertMessage.run(messageId, sessionId, text, permissionMode, modelId);
        return true;
      }),
    queued: (sessionId) => sql.openMessages.all(sessionId, 'queued').map(toMessage),
    running(sessionId) {
      const row = sql.openMessages.get(sessionId, 'running');
      return row === undefined ? undefined : toMessage(row);
    },

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

const prepareAll = (db: SqliteHandle) => ({
  insertSession: db.prepare(
    `INSERT INTO sessions (session_id, agent_id, directory, permission_mode, model_id, status)
     VALUES (?, ?, ?, ?, ?, 'starting')`,
  ),
  session: db.prepare('SELECT * FROM sessions WHERE session_id = ?'),
  active: db.prepare(
    `SELECT * FROM sessions WHERE agent_pid IS NOT NULL OR status NOT IN ('stopped', 'failed')
     OR session_id IN (SELECT session_id FROM messages WHERE state <> 'done') ORDER BY rowid`,
  ),
  tails: db.prepare('SELECT session_id, last_seq FROM sessions'),
  setProcess: db.prepare('UPDATE sessions SET agent_pid = ?, agent_start_time = ? WHERE session_id = ?'),
  setModels: db.prepare('UPDATE sessions SET models = ? WHERE session_id = ?'),
  setStatus: db.prepare('UPDATE sessions SET status = ? WHERE session_id = ?'),
  setMode: db.prepare('UPDATE sessions SET permission_mode = ? WHERE session_id = ?'),
  setModel: db.prepare('UPDATE sessions SET model_id = ? WHERE session_id = ?'),
  setReason: db.prepare('UPDATE sessions SET reason = ? WHERE session_id = ?'),
  setStarted: db.prepare('UPDATE sessions SET acp_session_id = ?, models = ? WHERE session_id = ?'),
  lastModels: db.prepare(
    `SELECT models FROM sessions WHERE agent_id = ? AND models <> '[]' ORDER BY rowid DESC LIMIT 1`,
  ),
  lastSeq: db.prepare('SELECT last_seq FROM sessions WHERE session_id = ?'),
  setLastSeq: db.prepare('UPDATE sessions SET last_seq = ? WHERE session_id = ?'),
  skipTo: db.prepare('UPDATE sessions SET last_seq = ? WHERE session_id = ? AND last_seq < ?'),
  insertMessage: db.prepare(
    `INSERT INTO messages (message_id, session_id, text, permission_mode, model_id, state)
     VALUES (?, ?, ?, ?, ?, 'queued')`,
  ),
  messageSession: db.prepare('SELECT session_id FROM messages WHERE message_id = ?'),
  openMessages: db.prepare(
    `SELECT * FROM messages WHERE session_id = ? AND state = ? AND state <> 'done' ORDER BY position`,
  ),
  setRunning: db.prepare(`UPDATE messages SET state = 'running' WHERE message_id = ?`),
  // The id stays, so that a message delivered again is known; its text is no longer needed.
  setDone: db.prepare(`UPDATE messages SET state = 'done', text = '' WHERE message_id = ?`),
  insertEvent: db.prepare('INSERT INTO outbox (session_id, seq, json) VALUES (?, ?, ?)'),
  // The first event goes alone when it is larger than an append may be.
  unsent: db.prepare(
    `SELECT json FROM (
       SELECT json, row_number() OVER w AS n, sum(length(CAST(json AS BLOB)) + 1) OVER w AS bytes
       FROM outbox WHERE session_id = ? AND seq > ?
       WINDOW w AS (ORDER BY seq ROWS UNBOUNDED PRECEDING) LIMIT ?
     ) WHERE n = 1 OR bytes <= ? ORDER BY n`,
  ),
  replaceUnsent: db.prepare('UPDATE outbox SET json = ? WHERE session_id = ? AND seq = ?'),
  acknowledge: db.prepare('DELETE FROM outbox WHERE session_id = ? AND seq <= ?'),
  sessionsWithUnsent: db.prepare('SELECT DISTINCT session_id FROM outbox'),
  unsentCount: db.prepare('SELECT count(*) AS n FROM outbox'),
});
