import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { KaiwuError } from '../../core/errors.ts';
import { MANAGED_LIMITS } from '../../core/managed/managed.ts';
import { toShortText } from '../../core/visible-text.ts';
import { END_GRACES, endGroup, signalGroup } from '../../process/group.ts';
import type { Guardian } from '../../process/guardian.ts';
import { type Program, type ProgramExit, startProgram } from '../../process/program.ts';
import type { ConnectionDeps, OpenedTransport, OpenTransport } from '../connection.ts';
import { createHide } from '../hide.ts';
import { toServerCommand } from './command.ts';
import { createMessageReader } from './message-reader.ts';
import { createStderrTail, type StderrTail } from './stderr-tail.ts';

/** Bytes that may wait for a program to read them. */
const MAX_UNREAD = 2 * MANAGED_LIMITS.message;
/** A program that closes its output or its input and lives on is of no use. */
const MUTE_MS = 1000;
/** Characters of the last line of stderr in a reason. */
const LAST_LINE = 300;

/** Servers over stdio: each leads a process group of its own, which `guardian` ends where this process cannot. */
export const createOpenStdio =
  (guardian: Guardian): OpenTransport =>
  async (server, deps, signal) => {
    signal.throwIfAborted();
    const hide = createHide(server.config);
    const command = toServerCommand(server.config, deps.env);
    const program = await startProgram({ ...command, graces: END_GRACES, guardian }).catch((cause: Error) => {
      throw unavailable(`${server.config.command} cannot be started: ${hide(cause.message)}`);
    });
    const tail = createStderrTail(hide);
    program.stderr.on('data', (chunk: Buffer) => tail.push(chunk));
    return toTransport(program, tail, deps);
  };

function toTransport(
  program: Program,
  tail: StderrTail,
  { now }: Pick<ConnectionDeps, 'now'>,
): OpenedTransport {
  let whyGone: string | undefined;
  let isEnded = false;
  const reader = createMessageReader({
    now,
    onMessage: (message) => transport.onmessage?.(message as JSONRPCMessage),
    onFlood: (why) => fail(why),
  });

  function gone(why: string): void {
    if (whyGone !== undefined) return;
    whyGone = why;
    transport.onclose?.();
  }

  /** It can be of no use any more: those who wait hear of it before it has ended. */
  function fail(why: string): void {
    gone(why);
    void program.end(why);
  }

  async function ended(first: () => void): Promise<void> {
    const exit = await program.exited;
    first();
    if (whyGone === undefined) reader.end();
    gone(toExitReason(exit, tail));
  }

  // `pid` and `stderr` tell the SDK that this is a program: one that answers nothing new is of the older generation.
  const transport: Transport & { pid: number; stderr: null } = {
    pid: program.pid,
    stderr: null,
    start() {
      program.stdout.on('data', (chunk: Buffer) => {
        if (whyGone === undefined) reader.push(chunk);
      });
      const mute = { timer: undefined as NodeJS.Timeout | undefined };
      program.stdout.once('end', () => {
        mute.timer = setTimeout(() => fail('it closed its output'), MUTE_MS);
      });
      void ended(() => clearTimeout(mute.timer));
      return Promise.resolve();
    },
    async send(message) {
      if (whyGone !== undefined) throw unavailable(whyGone);
      const line = Buffer.from(`${JSON.stringify(message)}\n`);
      if (line.length > MANAGED_LIMITS.message) {
        throw new KaiwuError(
          'payload_too_large',
          `A message of ${line.length} bytes is too large; ${MANAGED_LIMITS.message} are allowed.`,
        );
      }
      if (program.stdin.writableLength > MAX_UNREAD) {
        fail('it does not read its input');
        throw unavailable('it does not read its input');
      }
      const error = await new Promise<unknown>((resolve) => program.stdin.write(line, resolve));
      if (error == null) return;
      // The input of a program that ends closes first; how it ended says more.
      await Promise.race([program.exited, sleep(MUTE_MS, undefined, { ref: false })]);
      throw unavailable(whyGone ?? 'its input is closed');
    },
    close: () => close(),
  };

  async function close(): Promise<void> {
    gone('it was stopped');
    await program.end('it was stopped');
    if (isEnded || !signalGroup(program.pid, 0)) {
      isEnded = true;
      return;
    }
    await endGroup(program.pid, END_GRACES.termMs);
    if (signalGroup(program.pid, 0)) throw new Error(`processes of group ${program.pid} do not end`);
    isEnded = true;
  }

  return {
    transport,
    kind: 'stdio',
    stderrTail: tail.read,
    noiseLines: reader.noiseLines,
    whyGone: () => whyGone,
    close,
  };
}

function toExitReason({ code, signal, because }: ProgramExit, tail: StderrTail): string {
  if (because !== undefined) return because;
  const how = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
  const last = toShortText(tail.lastLine(), LAST_LINE);
  return last === '' ? how : `${how}: ${last}`;
}

const unavailable = (why: string): KaiwuError => new KaiwuError('mcp_server_unavailable', `command: ${why}.`);
