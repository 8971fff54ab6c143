import type {
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  Kysely,
  QueryResult,
  RootOperationNode,
} from 'kysely';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { SqliteHandle, SqlValue } from '../../../core/ports/host.ts';

/** SQLite's own adapter says that tables cannot be made in a transaction. They can, and half a migration must not stay. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

export const createSqliteDialect = (handle: SqliteHandle): Dialect => ({
  createDriver: () => createDriver(handle),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createAdapter: () => new TransactionalSqliteAdapter(),
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
});

function createDriver(handle: SqliteHandle): Driver {
  const connection = createConnection(handle);
  const lock = createLock();
  return {
    init: async () => {},
    acquireConnection: async () => {
      await lock.take();
      return connection;
    },
    // A transaction that begins by reading cannot always go on to write when another process writes too.
    beginTransaction: async () => handle.exec('begin immediate'),
    commitTransaction: async () => handle.exec('commit'),
    rollbackTransaction: async () => {
      try {
        handle.exec('rollback');
      } catch {
        // A full disk or an I/O error has made SQLite roll back by itself. If it had not, the next `begin` would fail.
      }
    },
    releaseConnection: async () => lock.release(),
    destroy: async () => {
      // A query that still runs ends first.
      await lock.take();
      handle.close();
    },
  };
}

function createConnection(handle: SqliteHandle): DatabaseConnection {
  return {
    executeQuery: async <R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> => {
      const statement = handle.prepare(sql);
      const values = parameters as SqlValue[];
      if (answersRows(query)) return { rows: statement.all(...values) as R[] };
      const { changes, lastInsertRowid } = statement.run(...values);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    },
    streamQuery: () => {
      throw new Error('SQLite queries are not streamed');
    },
  };
}

const answersRows = (query: RootOperationNode): boolean =>
  query.kind === 'SelectQueryNode' ||
  query.kind === 'RawNode' ||
  ('returning' in query && query.returning !== undefined);

/** One connection, one user at a time, in the order of asking. */
function createLock() {
  let held = false;
  const waiting: (() => void)[] = [];
  return {
    take: (): Promise<void> => {
      if (held) return new Promise((resolve) => waiting.push(resolve));
      held = true;
      return Promise.resolve();
    },
    release: (): void => {
      const next = waiting.shift();
      if (next === undefined) held = false;
      else next();
    },
  };
}
