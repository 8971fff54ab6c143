import type { SqliteHandle } from '../../core/ports/host.ts';

/** Each entry runs once, in order; `user_version` counts them. Never edit one that has shipped: add another. */
const MIGRATIONS = [
  `CREATE TABLE sessions (
     session_id TEXT PRIMARY KEY,
     agent_id TEXT NOT NULL,
     directory TEXT NOT NULL,
     permission_mode TEXT NOT NULL,
     model_id TEXT,
     models TEXT NOT NULL DEFAULT '[]',
     status TEXT NOT NULL,
     reason TEXT,
     acp_session_id TEXT,
     last_seq INTEGER NOT NULL DEFAULT 0,
     agent_pid INTEGER,
     agent_start_time TEXT
   ) STRICT;
   CREATE TABLE messages (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     message_id TEXT NOT NULL UNIQUE,
     session_id TEXT NOT NULL REFERENCES sessions (session_id),
     text TEXT NOT NULL,
     permission_mode TEXT,
     model_id TEXT,
     state TEXT NOT NULL
   ) STRICT;
   CREATE INDEX messages_open ON messages (session_id, position) WHERE state <> 'done';
   CREATE TABLE outbox (
     session_id TEXT NOT NULL,
     seq INTEGER NOT NULL,
     json TEXT NOT NULL,
     PRIMARY KEY (session_id, seq)
   ) STRICT, WITHOUT ROWID;`,
  // JSON in the columns that no query looks into. The values of `environment` are kept here and nowhere else.
  `ALTER TABLE sessions ADD COLUMN create_directory INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE sessions ADD COLUMN additional_directories TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE sessions ADD COLUMN environment TEXT NOT NULL DEFAULT '{}';
   ALTER TABLE sessions ADD COLUMN worktree_request TEXT;
   ALTER TABLE sessions ADD COLUMN worktree TEXT;
   ALTER TABLE sessions ADD COLUMN fork_of TEXT;
   ALTER TABLE sessions ADD COLUMN config_options TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE sessions ADD COLUMN features TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE sessions ADD COLUMN permission TEXT;
   ALTER TABLE sessions ADD COLUMN question TEXT;
   ALTER TABLE sessions ADD COLUMN continuation TEXT;
   ALTER TABLE sessions ADD COLUMN replay TEXT;
   ALTER TABLE messages ADD COLUMN delivery TEXT NOT NULL DEFAULT 'queue';
   ALTER TABLE messages ADD COLUMN steered TEXT;`,
  `CREATE TABLE agents (agent_id TEXT PRIMARY KEY, offer TEXT NOT NULL) STRICT;`,
  `ALTER TABLE sessions ADD COLUMN mcp_servers TEXT;`,
];

export function migrate(db: SqliteHandle): void {
  const row = db.prepare('PRAGMA user_version').get();
  const done = Number(row?.user_version ?? 0);
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index >= done) db.exec(`BEGIN IMMEDIATE; ${sql} PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}
