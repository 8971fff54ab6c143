import { type ParseArgsConfig, parseArgs } from 'node:util';
import { KaiwuError } from '../../core/errors.ts';
import { misspelt } from '../../core/nearest.ts';
import type { JsonSchema } from '../../core/spec.ts';
import type { Command, GlobalFlags } from './command.ts';

/** Flags of every command, without their hyphens. */
const GLOBAL: NonNullable<ParseArgsConfig['options']> = {
  server: { type: 'string' },
  'server-url': { type: 'string' },
  'webapp-url': { type: 'string' },
  session: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

export interface ParsedLine {
  flags: GlobalFlags;
  help: boolean;
  /** Fields as typed, by position and by flag. */
  fields: Record<string, unknown>;
  /** Text of `--input`, to be merged under the fields; `-` stands for stdin. */
  inputText?: string;
  idempotencyKey?: string;
}

/** `timeoutSeconds` is typed `--timeout-seconds`, `include_tools` `--include-tools`. */
export const toFlag = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`).replaceAll('_', '-');

/** Fields of a command by the flag that sets them. A global flag of the same name wins, but for `input`. */
export function fieldFlags(command: Command): Map<string, string> {
  const fields = Object.keys(command.inputSchema.properties ?? {});
  const own = fields.map((field) => [toFlag(field), field] as const);
  return new Map(
    [...own, ...Object.entries(command.furtherFlags ?? {})].filter(([flag]) => !(flag in GLOBAL)),
  );
}

/** Reads a line for a command. @throws invalid_input for flags and arguments that the command does not take */
export function parseLine(args: string[], command: Command): ParsedLine {
  const byFlag = fieldFlags(command);
  const schemaOf = (field: string): JsonSchema => command.inputSchema.properties?.[field] ?? {};
  const options: NonNullable<ParseArgsConfig['options']> = { ...GLOBAL };
  if (!byFlag.has('input')) options.input = { type: 'string' };
  if (command.writes) options['idempotency-key'] = { type: 'string' };
  for (const [flag, field] of byFlag) {
    const boolean = schemaOf(field).type === 'boolean';
    options[flag] = { type: boolean ? 'boolean' : 'string' };
    if (boolean) options[`no-${flag}`] = { type: 'boolean' };
  }

  const { tokens } = parseArgs({ args, options, strict: false, tokens: true, allowPositionals: true });
  const fields: Record<string, unknown> = {};
  const given: Record<string, string | boolean> = {};
  const words: string[] = [];
  const { afterDashes } = command;
  let into = words;
  for (const token of tokens) {
    if (token.kind === 'option-terminator' && afterDashes !== undefined) fields[afterDashes] = into = [];
    if (token.kind === 'positional') into.push(token.value);
    if (token.kind !== 'option') continue;
    const value = valueOf(token, options);
    const field = byFlag.get(token.name);
    if (field !== undefined) setField(fields, field, schemaOf(field), value);
    else if (byFlag.has(token.name.replace(/^no-/, '')))
      fields[byFlag.get(token.name.slice(3)) ?? ''] = !value;
    else given[token.name] = value;
  }
  placeWords(words, command, fields, typeof given.session === 'string');
  const text = (name: string) => (typeof given[name] === 'string' ? { [toCamel(name)]: given[name] } : {});
  return {
    flags: {
      ...text('server'),
      ...text('server-url'),
      ...text('webapp-url'),
      ...text('session'),
      json: given.json === true,
    },
    help: given.help === true,
    fields,
    ...(typeof given.input === 'string' ? { inputText: given.input } : {}),
    ...text('idempotency-key'),
  };
}

type OptionToken = {
  name: string;
  rawName: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
};

function valueOf(token: OptionToken, options: NonNullable<ParseArgsConfig['options']>): string | boolean {
  const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
  if (option === undefined) {
    const meant = misspelt(token.name, Object.keys(options));
    const hint =
      meant === undefined ? 'See --help for the flags of this command.' : `Did you mean --${meant}?`;
    throw new KaiwuError('invalid_input', `There is no flag ${token.rawName} here.`, { hint });
  }
  if (option.type === 'boolean') {
    if (token.value === undefined || token.value === 'true') return true;
    if (token.value === 'false') return false;
    throw usage(
      `${token.rawName} is a switch: it takes true, false or nothing, not ${JSON.stringify(token.value)}.`,
    );
  }
  const next = token.value;
  const isFlag = next?.startsWith('--') && Object.hasOwn(options, next.slice(2).replace(/=.*/, ''));
  if (next === undefined || (!token.inlineValue && isFlag)) throw usage(`${token.rawName} needs a value.`);
  return next;
}

function setField(
  fields: Record<string, unknown>,
  field: string,
  schema: JsonSchema,
  value: string | boolean,
): void {
  if (schema.type !== 'array') fields[field] = value;
  else fields[field] = [...((fields[field] as unknown[] | undefined) ?? []), value];
}

/** Gives the words of a line to the command's positional fields; a list as the last one takes all that is left. */
function placeWords(
  words: string[],
  command: Command,
  fields: Record<string, unknown>,
  hasSession: boolean,
): void {
  const { sessionField, inputSchema } = command;
  const slots = isSessionLeftOut(words, command, hasSession)
    ? command.positionals.filter((field) => field !== sessionField)
    : command.positionals.filter((field) => field !== command.afterDashes);
  const last = slots.at(-1);
  const takesRest = last !== undefined && inputSchema.properties?.[last]?.type === 'array';
  if (words.length > slots.length && !takesRest) throw tooMany(words.slice(slots.length), slots, command);
  slots.forEach((field, i) => {
    if (i >= words.length) return;
    fields[field] = takesRest && field === last ? words.slice(i) : words[i];
  });
}

/** With --session the session need not be written again; and a word of a fixed choice that stands one place early says so too. */
function isSessionLeftOut(words: string[], command: Command, hasSession: boolean): boolean {
  const { positionals, sessionField, inputSchema } = command;
  if (words.length >= positionals.length) return false;
  if (hasSession) return true;
  const others = positionals.filter((field) => field !== sessionField);
  const fits = (slots: string[]) =>
    slots.some((field, i) => inputSchema.properties?.[field]?.enum?.includes(words[i] ?? ''));
  return others.length < positionals.length && fits(others) && !fits(positionals);
}

/** Flags that are named where a word has no place. */
const MOST_FLAGS = 8;

function tooMany(extra: string[], slots: string[], command: Command): KaiwuError {
  const schema = command.inputSchema.properties?.[slots.at(-1) ?? ''];
  const isText =
    schema?.type === 'string' && schema.enum === undefined && slots.at(-1) !== command.sessionField;
  const flags = [...fieldFlags(command)]
    .filter(([, field]) => !slots.includes(field))
    .map(([flag]) => `--${flag}`);
  const named = flags.length > MOST_FLAGS ? [...flags.slice(0, MOST_FLAGS), '...'] : flags;
  const hints = [
    ...(isText ? ['Put quotes around a text with spaces.'] : []),
    ...(flags.length > 0 ? [`More is passed by flags: ${named.join(', ')}.`] : []),
    `See \`kaiwu ${command.path} --help\`.`,
  ];
  const takes =
    slots.length === 0 ? 'no arguments' : `${slots.length} argument${slots.length === 1 ? '' : 's'}`;
  const shown = extra.map((word) => JSON.stringify(word.slice(0, 60))).join(' ');
  return new KaiwuError(
    'invalid_input',
    `\`kaiwu ${command.path}\` takes ${takes}; there is more: ${shown}.`,
    {
      hint: hints.join(' '),
    },
  );
}

const toCamel = (name: string): string => name.replaceAll(/-(.)/g, (_, c: string) => c.toUpperCase());

const usage = (message: string): KaiwuError =>
  new KaiwuError('invalid_input', message, { hint: 'See --help.' });
