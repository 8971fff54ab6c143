import { text } from 'node:stream/consumers';
import type { Envelope } from '../../core/call.ts';
import { type ErrorCode, ERRORS, toWireError, type WireError } from '../../core/errors.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import type { Command } from './command.ts';
import { parseLine, toFlag } from './flags.ts';
import { groupHelp, overviewHelp } from './group-help.ts';
import { commandHelp } from './help.ts';
import { toInput } from './input.ts';
import { type CliIo, write } from './io.ts';
import { createPaint, type Paint } from './paint.ts';
import { renderOutput, type Shape } from './render.ts';
import { startSpinner } from './spinner.ts';
import { findCommand } from './tree.ts';
import { fieldOf } from './values.ts';

export interface RunOptions {
  /** Name that the program was called by, for help and hints. */
  program: string;
  /** What a person types to run it in this shell, for commands that are meant to be copied. */
  typed: string;
  /** Words after the program's name. */
  argv: readonly string[];
  commands: readonly Command[];
  io: CliIo;
  version: string;
  signal: AbortSignal;
  /** Hears of errors that the person only sees as `internal`. */
  onError(error: unknown): void;
}

/** Columns of help where it goes to no terminal. */
const HELP_WIDTH = 100;

/** Exit code of a call that now waits for a person's approval. */
const APPROVAL_EXIT = 3;

/** Runs one line. @returns the exit code, once all output has left the process */
export async function runCli(options: RunOptions): Promise<number> {
  const { io, program } = options;
  const json = options.argv.includes('--json');
  const paint = createPaint(io.color);
  try {
    return await runLine(options, paint);
  } catch (error) {
    const wire = toWireError(error);
    if (wire.code === 'internal') options.onError(error);
    return await tell({ status: 'error', error: wire }, { io, json, paint, program, typed: options.typed });
  }
}

async function runLine(options: RunOptions, paint: Paint): Promise<number> {
  const { io, commands, signal, program } = options;
  const asked = options.argv[0] === 'help' ? [...options.argv.slice(1), '--help'] : [...options.argv];
  if (asked.length === 1 && (asked[0] === '--version' || asked[0] === '-v')) {
    await write(io.stdout, `${options.version}\n`);
    return 0;
  }
  const help = { program, width: io.width ?? HELP_WIDTH, paint };
  const { command, path, below, rest } = findCommand(asked, commands);
  if (command === undefined) {
    await write(io.stdout, `${path === '' ? overviewHelp(below, help) : groupHelp(path, below, help)}\n`);
    return 0;
  }
  // What stands behind `--` belongs to another program.
  const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  if (own.includes('--help') || own.includes('-h')) {
    await write(io.stdout, `${commandHelp(command, commands, help)}\n`);
    return 0;
  }
  const line = parseLine(rest, command);
  const input = await toInput(line, command, { readStdin: () => text(io.stdin), cwd: io.cwd });
  const stop = command.talks ? () => undefined : startSpinner(io, command.path);
  const { flags, idempotencyKey } = line;
  const envelope = await command
    .run({ input, flags, signal, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) })
    .finally(stop);
  const shape = command.shapeOf?.(input) ?? command;
  const answer = withSessionHint(envelope, command);
  const told = flags.json ? answer : withHelp(answer, command);
  const code = await tell(told, {
    io,
    json: flags.json,
    paint,
    program,
    typed: options.typed,
    shape,
    toText: command.toText,
  });
  return code === 0 && told.status === 'ok' ? failureExit(told.output, command) : code;
}

/** How a session is named differs by surface; in a shell it is this. */
function withSessionHint(envelope: Envelope, { positionals, sessionField = '' }: Command): Envelope {
  if (envelope.status !== 'error' || envelope.error.code !== 'session_not_selected') return envelope;
  const how =
    positionals[0] === sessionField
      ? "Pass the session's id as the first argument"
      : `Pass --${toFlag(sessionField)}`;
  const hint = `${how}, or name it with --session. \`kaiwu session list\` shows them.`;
  return { ...envelope, error: { ...envelope.error, hint } };
}

/** The backend names the schema, which is for programs; a person looks into the help of the command. */
function withHelp(envelope: Envelope, { path, title, shapeOf }: Command): Envelope {
  const isHelpful = title !== undefined && shapeOf === undefined;
  if (envelope.status !== 'error' || envelope.error.code !== 'invalid_input' || !isHelpful) return envelope;
  const { error } = envelope;
  const hint = [error.hint, `In a shell: \`kaiwu ${path} --help\`.`].filter(Boolean).join(' ');
  return { ...envelope, error: { ...error, hint } };
}

interface Telling extends Pick<RunOptions, 'io' | 'program' | 'typed'> {
  json: boolean;
  paint: Paint;
  shape?: Shape;
  toText?: Command['toText'];
}

/** Prints the outcome: one line of JSON for programs, text for people. @returns the exit code */
async function tell(envelope: Envelope, telling: Telling): Promise<number> {
  const { io, json, paint, program, typed, shape = {}, toText } = telling;
  const { width, timeZone } = io;
  if (json) await write(io.stdout, `${JSON.stringify(envelope)}\n`);
  else if (envelope.status === 'ok') {
    const { output } = envelope;
    const shown = toText?.(output) ?? renderOutput(output, shape, { width, timeZone, paint, program: typed });
    if (shown !== '') await write(io.stdout, `${shown}\n`);
  } else if (envelope.status === 'approval_required') {
    const { summary, artifactId, expiresAt, decideWith, waitWith } = envelope.approval;
    const fields = { id: artifactId, expiresAt, decideWith, waitWith };
    const rest = renderOutput(fields, {}, { width, timeZone, paint, program: typed });
    const text = `A person must approve this first: ${toVisibleText(summary)}\n${rest}\n`;
    await write(io.stdout, inOwnName(text, program));
  } else await write(io.stderr, inOwnName(toErrorText(envelope.error, paint), program));
  return exitCode(envelope);
}

/** Other parts write commands under the name of the stable channel; a person is told the name that they use. */
const inOwnName = (text: string, program: string): string =>
  text.replaceAll(/(?<=`|: |  )kaiwu (?=[a-z]|--)/g, `${program} `);

/** What was started and failed at once ends the command as the error would that it failed with. */
function failureExit(output: Record<string, unknown>, { failure }: Command): number {
  const code = failure === undefined ? undefined : fieldOf(output, `${failure}.code`);
  return typeof code === 'string' && Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].exit : 0;
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
