import { text } from 'node:stream/consumers';
import type { Envelope } from '../../core/call.ts';
import { ERRORS, toWireError, type WireError } from '../../core/errors.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import type { Command } from './command.ts';
import { parseLine } from './flags.ts';
import { commandHelp, groupHelp } from './help.ts';
import { toInput } from './input.ts';
import { type CliIo, write } from './io.ts';
import { createPaint, type Paint } from './paint.ts';
import { renderOutput } from './render.ts';
import { startSpinner } from './spinner.ts';
import { findCommand } from './tree.ts';

export interface RunOptions {
  /** Words after the program's name. */
  argv: readonly string[];
  commands: readonly Command[];
  io: CliIo;
  version: string;
  signal: AbortSignal;
  /** Hears of errors that the person only sees as `internal`. */
  onError(error: unknown): void;
}

/** Exit code of a call that now waits for a person's approval. */
const APPROVAL_EXIT = 3;

/** Runs one line. @returns the exit code, once all output has left the process */
export async function runCli(options: RunOptions): Promise<number> {
  const { io } = options;
  const json = options.argv.includes('--json');
  const paint = createPaint(io.color);
  try {
    return await runLine(options, paint);
  } catch (error) {
    const wire = toWireError(error);
    if (wire.code === 'internal') options.onError(error);
    return await tell({ status: 'error', error: wire }, { io, json, paint });
  }
}

async function runLine(options: RunOptions, paint: Paint): Promise<number> {
  const { io, commands, signal } = options;
  const asked = options.argv[0] === 'help' ? [...options.argv.slice(1), '--help'] : [...options.argv];
  if (asked.length === 1 && (asked[0] === '--version' || asked[0] === '-v')) {
    await write(io.stdout, `${options.version}\n`);
    return 0;
  }
  const { command, path, below, rest } = findCommand(asked, commands);
  if (command === undefined) {
    await write(io.stdout, `${groupHelp(path, below, paint)}\n`);
    return 0;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    await write(io.stdout, `${commandHelp(command, paint)}\n`);
    return 0;
  }
  const line = parseLine(rest, command);
  const input = await toInput(line, command, { readStdin: () => text(io.stdin), cwd: io.cwd });
  const stop = command.talks ? () => undefined : startSpinner(io, command.path);
  const { flags, idempotencyKey } = line;
  const envelope = await command
    .run({ input, flags, signal, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) })
    .finally(stop);
  return tell(envelope, { io, json: flags.json, paint, command });
}

interface Telling {
  io: CliIo;
  json: boolean;
  paint: Paint;
  command?: Command;
}

/** Prints the outcome: one line of JSON for programs, text for people. @returns the exit code */
async function tell(envelope: Envelope, { io, json, paint, command }: Telling): Promise<number> {
  if (json) await write(io.stdout, `${JSON.stringify(envelope)}\n`);
  else if (envelope.status === 'ok') {
    const { output } = envelope;
    const shown =
      command?.toText?.(output) ?? renderOutput(output, command?.outputSchema, { width: io.width, paint });
    if (shown !== '') await write(io.stdout, `${shown}\n`);
  } else if (envelope.status === 'approval_required') {
    const { approval } = envelope;
    await write(io.stdout, `${renderOutput({ ...approval }, undefined, { width: io.width, paint })}\n`);
  } else await write(io.stderr, toErrorText(envelope.error, paint));
  return exitCode(envelope);
}

function exitCode(envelope: Envelope): number {
  if (envelope.status === 'ok') return 0;
  if (envelope.status === 'approval_required') return APPROVAL_EXIT;
  return ERRORS[envelope.error.code]?.exit ?? 1;
}

function toErrorText({ code, message, hint }: WireError, paint: Paint): string {
  const first = `${paint.red(`error ${code}:`)} ${toVisibleText(message)}\n`;
  return hint === undefined ? first : `${first}${toVisibleText(hint)}\n`;
}
