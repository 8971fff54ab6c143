import { resolve } from 'node:path';
import { KaiwuError } from '../../core/errors.ts';
import type { JsonSchema } from '../../core/spec.ts';
import type { Command } from './command.ts';
import { type ParsedLine, toFlag } from './flags.ts';

/** Most characters of a JSON input. */
const MAX_INPUT = 8 * 1024 * 1024;

/**
 * The command's input: `--input` JSON with the flags and arguments laid over it.
 * @throws invalid_input for JSON that is none, for a missing field, and for a value that no shell word can mean
 */
export async function toInput(
  line: ParsedLine,
  command: Command,
  { readStdin, cwd }: { readStdin: () => Promise<string>; cwd: string },
): Promise<Record<string, unknown>> {
  const base = line.inputText === undefined ? {} : await parseInputText(line.inputText, readStdin);
  const input = { ...base };
  for (const [field, value] of Object.entries(line.fields)) {
    const schema = command.inputSchema.properties?.[field] ?? {};
    const text = value === '-' && schema.type === 'object' ? await readStdin() : value;
    // A list says it by one word, as every other field does.
    const word = Array.isArray(text) && text.length === 1 ? (text[0] as unknown) : text;
    const cleared = word === 'null' && command.clearable?.includes(field);
    input[field] = cleared ? null : toValue(text, schema, field, command.shorthands?.[field]);
  }
  for (const field of command.folders ?? []) {
    if (line.fields[field] !== undefined) input[field] = toAbsolute(input[field], cwd);
  }
  for (const field of command.inputSchema.required ?? []) {
    if (input[field] === undefined) throw missing(field, command);
  }
  return input;
}

async function parseInputText(
  text: string,
  readStdin: () => Promise<string>,
): Promise<Record<string, unknown>> {
  const json = text === '-' ? await readStdin() : text;
  if (json.length > MAX_INPUT) {
    throw new KaiwuError(
      'payload_too_large',
      `--input is ${json.length} characters long; at most ${MAX_INPUT}.`,
    );
  }
  const value = toJson(json, '--input');
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new KaiwuError('invalid_input', '--input must be a JSON object.', {
    hint: `Received ${shorten(json)}.`,
  });
}

/** Of one folder, or of each of a list. What is no text is left for the backend to refuse. */
function toAbsolute(folder: unknown, cwd: string): unknown {
  if (Array.isArray(folder)) return folder.map((one) => toAbsolute(one, cwd));
  return typeof folder === 'string' && isRelative(folder) ? resolve(cwd, folder) : folder;
}

/** Not absolute on any system: the folder may be on a machine of another kind. A blank is no folder. */
const isRelative = (path: string): boolean => path.trim() !== '' && !/^([/~\\]|[A-Za-z]:)/.test(path);

/** What a shell word means for a field. The backend judges the value; here only its form is settled. */
function toValue(value: unknown, schema: JsonSchema, field: string, shorthand?: string): unknown {
  if (Array.isArray(value)) return value.map((item) => toValue(item, schema.items ?? {}, field, shorthand));
  if (typeof value !== 'string') return value;
  if (shorthand !== undefined && schema.type === 'object' && !value.trimStart().startsWith('{')) {
    return { [shorthand]: value };
  }
  switch (schema.type) {
    case 'integer':
    case 'number':
      if (/^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value);
      throw wrong(field, value, `must be a number`);
    case 'object':
    case 'array':
      return toJson(value, `--${toFlag(field)}`);
    default:
      if (schema.enum === undefined || schema.enum.includes(value)) return value;
      throw wrong(field, value, `must be one of ${schema.enum.join(', ')}`);
  }
}

function toJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new KaiwuError('invalid_input', `${what} is not JSON: received ${shorten(text)}.`, {
      hint: `Quote it for the shell, as in ${what} '{"key":"value"}', or pass - and pipe it in.`,
    });
  }
}

const shorten = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

function missing(field: string, command: Command): KaiwuError {
  const name = command.positionals.includes(field) ? `<${field}>` : `--${toFlag(field)}`;
  return new KaiwuError('invalid_input', `\`kaiwu ${command.path}\` needs ${name}.`, {
    hint: `See \`kaiwu ${command.path} --help\`.`,
    details: { issues: [{ path: field, message: 'is required' }] },
  });
}

const wrong = (field: string, received: string, message: string): KaiwuError =>
  new KaiwuError('invalid_input', `${field} ${message}: received ${shorten(received)}.`, {
    details: { issues: [{ path: field, message, received: received.slice(0, 80) }] },
  });
