import { mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { destination, pino } from 'pino';
import { KaiwuError } from '../core/errors.ts';
import type { Logger } from '../core/ports/host.ts';
import { redact, redactText } from '../core/redact.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A log larger than this, bytes, is set aside as `.1` when a process opens it. */
const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Structured log, one JSON line an entry, to stderr or to a file (0600). What looks like a credential is redacted. A log that
 * cannot be written (a full disk) never stops the process.
 */
export function createLogger(options: { name: string; level: LogLevel; file?: string }): Logger {
  const { name, level, file } = options;
  if (file !== undefined) prepareFile(file);
  const sink = destination({ dest: file ?? 2, sync: true, ...(file === undefined ? {} : { mode: 0o600 }) });
  sink.on('error', () => undefined);
  const writer = pino(
    { name, level, base: { name, pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    sink,
  );
  const entry = (at: LogLevel) => (fields: Record<string, unknown>, message: string) => {
    try {
      writer[at](redact(fields), redactText(message));
    } catch {
      // Nowhere to tell it.
    }
  };
  return { debug: entry('debug'), info: entry('info'), warn: entry('warn'), error: entry('error') };
}

/** The level that a person asked for with KAIWU_LOG; `info` for anything else. */
export const toLogLevel = (value: string | undefined): LogLevel =>
  LOG_LEVELS.find((level) => level === value) ?? 'info';

function prepareFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const info = statSync(file, { throwIfNoEntry: false });
  if (info?.isFIFO() === true) {
    // Opening it would wait for a reader for ever.
    throw new KaiwuError('state_damaged', `The log ${file} is not a regular file.`, {
      hint: 'Move it away.',
    });
  }
  if ((info?.size ?? 0) > MAX_BYTES) renameSync(file, `${file}.1`);
}
