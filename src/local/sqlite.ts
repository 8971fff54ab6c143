import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { KaiwuError } from '../core/errors.ts';
import type { SqliteHandle, SqliteStatement, SqlValue } from '../core/ports/host.ts';
import { assertOwner } from './private-folder.ts';
import { cannotOpen, damaged, toKaiwuError } from './sqlite-errors.ts';

/** The part of `node:sqlite` that is used; `@photostructure/sqlite` has the same. */
interface Database {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}
type DatabaseClass = new (path: string) => Database;

interface SqliteOptions {
  /** Keeps every other process out until this one closes the file or dies. */
  exclusive?: boolean;
  /** Milliseconds to wait for another process. Default 5,000; 500 with `exclusive`. */
  busyTimeoutMs?: number;
  /** False for a file that is only a lock: nothing in it can be damaged. */
  check?: boolean;
}

/** Whole files up to this size are checked when they are opened; damage in larger ones shows when it is read. */
const CHECK_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Opens or makes a database file, readable by this user only, in WAL mode with full durability.
 * @throws conflict when another process holds it | state_damaged when it is damaged, is no database or cannot be
 * opened; the file stays as it was. Statements throw the same, and internal for a full disk or a read-only file.
 */
export function openSqlite(path: string, options: SqliteOptions = {}): SqliteHandle {
  const { exclusive = false, busyTimeoutMs = exclusive ? 500 : 5_000, check = true } = options;
  prepareFile(path);
  const giveUpAt = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return toHandle(connect(path, { exclusive, busyTimeoutMs, check }), path);
    } catch (error) {
      const busy = error instanceof KaiwuError && error.code === 'conflict';
      if (!busy || performance.now() >= giveUpAt) throw error;
      // Two that ask at one moment can refuse each other, and the switch to WAL does not wait by itself.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10 + Math.random() * 40);
    }
  }
}

function connect(path: string, { exclusive, busyTimeoutMs, check }: Required<SqliteOptions>): Database {
  let db: Database | undefined;
  try {
    db = new (loadDriver())(path);
    db.exec(`PRAGMA busy_timeout=${exclusive ? 0 : Math.trunc(busyTimeoutMs)}`);
    // First of all, so that a refused attempt has prepared no statement, which could outlive `close` with its lock.
    if (exclusive) db.exec('PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    // Checked before anything is written to it.
    if (check) assertSound(db, path);
    db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON');
    return db;
  } catch (error) {
    // Not by `closeNow`: a damaged file is to stay as it is.
    db?.close();
    throw toKaiwuError(error, path);
  }
}

function assertSound(db: Database, path: string): void {
  const small = statSync(path).size <= CHECK_MAX_BYTES;
  const check = small ? 'PRAGMA quick_check(1)' : 'PRAGMA schema_version';
  const found = db.prepare(check).get()?.quick_check;
  if (small && found !== 'ok') throw damaged(path, String(found));
}

/**
 * Makes the file with its mode before SQLite does, which gives the same mode to the files beside it. An existing file
 * is never opened here: closing it would drop the locks that this process holds on it.
 */
function prepareFile(path: string): void {
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    const wal = statSync(`${path}-wal`, { throwIfNoEntry: false });
    if ((file?.size ?? 0) === 0 && (wal?.size ?? 0) > 0) {
      throw damaged(path, 'the file is missing or empty, but its -wal file holds data');
    }
    if (file === undefined) makeFile(path);
    else if (!file.isFile()) throw damaged(path, 'it is not a file');
    else {
      assertOwner(path, file.uid);
      if ((file.mode & 0o077) !== 0) chmodSync(path, 0o600);
    }
  } catch (error) {
    if (error instanceof KaiwuError) throw error;
    throw cannotOpen(path, error);
  }
}

function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let fd: number;
  try {
    fd = openSync(path, 'wx', 0o600);
  } catch (error) {
    // Another process made it meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  fchmodSync(fd, 0o600);
  closeSync(fd);
}

function toHandle(db: Database, path: string): SqliteHandle {
  held.add(db);
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw toKaiwuError(error, path);
    }
  };
  const prepare = (sql: string): SqliteStatement => {
    const statement = guard(() => db.prepare(sql));
    return {
      all: (...values) => guard(() => statement.all(...values.map(toSqlite))),
      get: (...values) => guard(() => statement.get(...values.map(toSqlite))),
      run: (...values) => guard(() => statement.run(...values.map(toSqlite))),
    };
  };
  const prepared = new Map<string, SqliteStatement>();
  return {
    exec: (sql) => guard(() => db.exec(sql)),
    prepare: (sql) => {
      const statement = prepared.get(sql) ?? prepare(sql);
      prepared.delete(sql);
      prepared.set(sql, statement);
      if (prepared.size > STATEMENTS_KEPT) prepared.delete([...prepared.keys()][0] ?? '');
      return statement;
    },
    close: () => {
      if (!held.delete(db)) return;
      prepared.clear();
      guard(() => closeNow(db));
    },
  };
}

/** What is open stays open, and locked, until it is closed: garbage collection would close a handle nobody looks at. */
const held = new Set<Database>();

/** Statements that are used again, the most recent ones: each holds memory until some later garbage collection. */
const STATEMENTS_KEPT = 200;

/**
 * `@photostructure/sqlite` closes a file only when the last statement has been collected, and holds its locks until
 * then. Leaving WAL mode writes everything to the file itself and lets go of them at once.
 */
function closeNow(db: Database): void {
  try {
    db.exec(
      'PRAGMA busy_timeout=0; PRAGMA journal_mode=DELETE; PRAGMA locking_mode=NORMAL; PRAGMA user_version',
    );
  } catch {
    // Others have the file open, or it cannot be written now: the log stays beside it and nothing is lost.
  } finally {
    db.close();
  }
}

const toSqlite = (value: SqlValue): SqlValue =>
  typeof value === 'boolean' ? Number(value) : value === undefined ? null : value;

let driver: DatabaseClass | undefined;

function loadDriver(): DatabaseClass {
  // Loaded only where it is needed, and never bundled: it has a native part.
  const require = createRequire(import.meta.url);
  driver ??= ((builtIn() ?? require('@photostructure/sqlite')) as Driver).DatabaseSync;
  return driver;
}

interface Driver {
  DatabaseSync: DatabaseClass;
}

/** Node's own SQLite, from Node 22 on, without its warning that it is experimental. */
function builtIn(): unknown {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
