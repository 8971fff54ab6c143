import { Writable } from 'node:stream';
import { ERRORS, toWireError } from '../core/errors.ts';
import type { Logger } from '../core/ports/host.ts';
import { type ServeMcpOptions, serveMcp } from '../surfaces/mcp/serve.ts';
import { redact } from '../core/redact.ts';

/** What a caller of `runMcpProcess` still has to say; the rest is this process. */
export type McpProcessOptions = Omit<ServeMcpOptions, 'input' | 'output' | 'signal' | 'log'>;

/**
 * Serves the host on this process's stdin and stdout, then ends the process, whatever is still alive in it. Stdout carries
 * the protocol alone: all else that is written there, by whatever dependency, goes to stderr.
 */
export async function runMcpProcess(log: Logger, options: McpProcessOptions): Promise<never> {
  const output = takeStdout();
  const told = new AbortController();
  let code = 0;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => told.abort());
  // Nobody reads what is said here any more; the host is going.
  process.stderr.on('error', () => undefined);
  process.on('unhandledRejection', (error) => log.error({ error: textOf(error) }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.error({ error: textOf(error) }, 'uncaught exception; ending');
    code = 1;
    told.abort();
  });
  try {
    const served = await serveMcp({ ...options, log, input: process.stdin, output, signal: told.signal });
    return process.exit(code === 0 ? served : code);
  } catch (error) {
    return process.exit(complain(error));
  }
}

/** Tells on one line why the process cannot serve. Answers its exit code. */
export function complain(error: unknown): number {
  const { code, message, hint } = toWireError(error);
  process.stderr.write(`${code}: ${message}${hint === undefined ? '' : ` ${hint}`}\n`);
  return ERRORS[code].exit;
}

function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  // A failed write tells its callback; the stream's own event says the same again.
  stdout.on('error', () => undefined);
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void write(chunk, done),
  });
}

const textOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** Log lines on stderr, where hosts show or keep them. Small, since every host waits for this process to start. */
export function createStderrLog(level: 'debug' | 'warn'): Logger {
  const line = (name: string) => (fields: Record<string, unknown>, message: string) => {
    process.stderr.write(`kaiwu mcp: ${name}: ${message} ${JSON.stringify(redact(fields))}\n`);
  };
  const none = () => undefined;
  const verbose = level === 'debug';
  return {
    debug: verbose ? line('debug') : none,
    info: verbose ? line('info') : none,
    warn: line('warn'),
    error: line('error'),
  };
}
