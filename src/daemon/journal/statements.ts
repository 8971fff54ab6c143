import type { SqliteHandle } from '../../core/ports/host.ts';

export const prepareAll = (db: SqliteHandle) => ({
  insertSession: db.prepare(
    `INSERT INTO sessions (session_id, agent_id, directory, permission_mode, model_id, create_directory,
       additional_directories, environment, worktree_request, fork_of, mcp_servers, status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'starting')`,
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
  setConfigOptions: db.prepare('UPDATE sessions SET config_options = ? WHERE session_id = ?'),
  setPermission: db.prepare('UPDATE sessions SET permission = ? WHERE session_id = ?'),
  setQuestion: db.prepare('UPDATE sessions SET question = ? WHERE session_id = ?'),
  setWorktree: db.prepare('UPDATE sessions SET worktree = ? WHERE session_id = ?'),
  setFeatures: db.prepare('UPDATE sessions SET features = ? WHERE session_id = ?'),
  setContinuation: db.prepare('UPDATE sessions SET continuation = ? WHERE session_id = ?'),
  setReplay: db.prepare('UPDATE sessions SET replay = ? WHERE session_id = ?'),
  setStarted: db.prepare('UPDATE sessions SET acp_session_id = ?, models = ? WHERE session_id = ?'),
  lastModels: db.prepare(
    `SELECT models FROM sessions WHERE agent_id = ? AND models <> '[]' ORDER BY rowid DESC LIMIT 1`,
  ),
  offer: db.prepare('SELECT offer FROM agents WHERE agent_id = ?'),
  setOffer: db.prepare('INSERT OR REPLACE INTO agents (agent_id, offer) VALUES (?, ?)'),
  lastSeq: db.prepare('SELECT last_seq FROM sessions WHERE session_id = ?'),
  setLastSeq: db.prepare('UPDATE sessions SET last_seq = ? WHERE session_id = ?'),
  skipTo: db.prepare('UPDATE sessions SET last_seq = ? WHERE session_id = ? AND last_seq < ?'),
  insertMessage: db.prepare(
    `INSERT INTO messages (message_id, session_id, text, permission_mode, model_id, delivery, state)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ),
  requeue: db.prepare(`UPDATE messages SET state = 'queued' WHERE message_id = ? AND state = 'steering'`),
  messageSession: db.prepare('SELECT session_id FROM messages WHERE message_id = ?'),
  // What interrupts goes before what waits.
  openMessages: db.prepare(
    `SELECT * FROM messages WHERE session_id = ? AND state = ? AND state <> 'done'
     ORDER BY delivery <> 'interrupt', position`,
  ),
  setRunning: db.prepare(`UPDATE messages SET state = 'running' WHERE message_id = ?`),
  setSteered: db.prepare('UPDATE messages SET steered = ? WHERE message_id = ?'),
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
