import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/local/sqlite.ts';
import { createWorld, makeHome } from './helpers/world.ts';

/** What the first daemons wrote. */
const FIRST = `
  CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, directory TEXT NOT NULL, permission_mode TEXT NOT NULL,
    model_id TEXT, models TEXT NOT NULL DEFAULT '[]', status TEXT NOT NULL, reason TEXT, acp_session_id TEXT,
    last_seq INTEGER NOT NULL DEFAULT 0, agent_pid INTEGER, agent_start_time TEXT
  ) STRICT;
  CREATE TABLE messages (
    position INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (session_id), text TEXT NOT NULL, permission_mode TEXT,
    model_id TEXT, state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX messages_open ON messages (session_id, position) WHERE state <> 'done';
  CREATE TABLE outbox (
    session_id TEXT NOT NULL, seq INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY (session_id, seq)
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = 1;`;

test('what an older daemon left is taken over: its sessions, its queue, and what was waiting', async () => {
  const home = makeHome();
  const workspace = join(home, 'workspace');
  mkdirSync(workspace);
  const db = openSqlite(join(home, 'daemon.db'));
  db.exec(FIRST);
  const insert = db.prepare(
    `INSERT INTO sessions (session_id, agent_id, directory, permission_mode, status, acp_session_id)
     VALUES (?, 'demo', ?, 'default', ?, 'gone')`,
  );
  insert.run('s1', workspace, 'idle');
  insert.run('s2', workspace, 'waiting');
  const message = db.prepare(
    'INSERT INTO messages (message_id, session_id, text, state) VALUES (?, ?, ?, ?)',
  );
  message.run('m1', 's1', 'say taken over', 'queued');
  message.run('m2', 's2', 'ask to dance', 'running');
  db.close();

  const world = await createWorld({ home });
  await world.backend.event('s1', 'turn_ended', (event) => event.messageId === 'm1');
  const said = world.backend.events('s1').find((event) => event.type === 'agent_text');
  expect(said).toMatchObject({ text: 'taken over' });
  expect(await world.backend.event('s2', 'turn_ended')).toMatchObject({ messageId: 'm2', outcome: 'failed' });
});
