/** What a part needs of the machine that it runs on; `src/app` hands it out. */

/** Structured log. Fields first. Never a secret: the writer redacts, the caller does not rely on it. */
export interface Logger {
  debug(fields: Record<string, unknown>, message: string): void;
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

/** One question to a service over HTTP, whole. */
export interface OutboundRequest {
  url: string;
  /** Default GET; POST where there is a body. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Milliseconds for all of it. */
  timeoutMs: number;
  /** Bytes of the answer. Default 4 MiB. */
  maxBytes?: number;
  signal: AbortSignal;
}

/**
 * Asks a service over HTTP, through the proxy of the environment; follows no redirect. Any status is an answer.
 * @throws provider_failed (not reached, too slow, too much) with an address cut to scheme and host | the signal's reason
 */
export type Outbound = (request: OutboundRequest) => Promise<{ status: number; text: string }>;

/** Tells a process from another one that was given its number later. */
export interface ProcessTable {
  /** An opaque text that differs between two processes with one pid; undefined when there is no such process. */
  startTime(pid: number): string | undefined;
}

/** A value of SQLite. Booleans and undefined are turned into 0/1 and null by the adapter. */
export type SqlValue = string | number | bigint | Uint8Array | null | boolean | undefined;

export interface SqliteStatement {
  all(...values: SqlValue[]): Record<string, unknown>[];
  get(...values: SqlValue[]): Record<string, unknown> | undefined;
  run(...values: SqlValue[]): { changes: number; lastInsertRowid: number | bigint };
}

/** An open SQLite database, synchronous, in WAL mode with foreign keys on. Source: `src/local/sqlite.ts`. */
export interface SqliteHandle {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}
