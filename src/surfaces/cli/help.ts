import { ERRORS } from '../../core/errors.ts';
import type { JsonSchema } from '../../core/spec.ts';
import type { Command } from './command.ts';
import { fieldFlags, toFlag } from './flags.ts';
import { definitions, globalFlags, type HelpStyle, paragraph, section } from './help-text.ts';
import { shellQuote } from './shell-quote.ts';

/** Help of one command. Needs no backend. @param names all commands, to find its further names among */
export function commandHelp(command: Command, names: readonly Command[], style: HelpStyle): string {
  const { path, inputSchema, positionals, title } = command;
  const { program, width } = style;
  const required = new Set(inputSchema.required);
  const fields = inputSchema.properties ?? {};
  const slots = positionals.map((field) => {
    const name = fields[field]?.type === 'array' ? `${field}...` : field;
    return required.has(field) ? `<${name}>` : `[${name}]`;
  });
  const flags = [...fieldFlags(command)].filter(([, field]) => !positionals.includes(field));
  const rows: [string, string][] = flags.map(([flag, field]) => [
    `--${flag}${valueName(fields[field], command.shorthands?.[field])}`,
    describe(fields[field], required.has(field)),
  ]);
  if (command.writes) rows.push(['--idempotency-key KEY', 'The same key and input run once.']);
  if (!fieldFlags(command).has('input'))
    rows.push(['--input JSON', 'All fields as one object; - reads stdin.']);
  const main = command.sameAs ?? path;
  const paths = names
    .filter((other) => other.path !== path && (other.path === main || other.sameAs === main))
    .map((other) => other.path);
  const usage = [path, ...paths].map((name) => `  ${[program, name, ...slots, '[flags]'].join(' ')}`);
  const list = (lines: [string, string][]) => definitions(lines, width);
  return [
    ...(title === undefined ? [] : [style.paint.bold(title), '']),
    ...paragraph([command.summary, command.description].filter(Boolean).join(' '), width),
    ...section('Usage', usage, style),
    ...section(
      'Arguments',
      list(positionals.map((field) => [field, describe(fields[field], required.has(field))])),
      style,
    ),
    ...section('Flags', list(rows), style),
    ...section('Everywhere', list(globalFlags(style)), style),
    ...section(
      'Examples',
      command.examples.flatMap(({ title: what, input }) => [
        `  # ${what}`,
        `  ${toCommandLine(program, command, input)}`,
      ]),
      style,
    ),
    ...section(
      'Errors',
      list(command.errors.map((code) => [code, `exits with ${ERRORS[code].exit}`])),
      style,
    ),
  ].join('\n');
}

/** The line that a person would type for an input. */
function toCommandLine(program: string, command: Command, input: Record<string, unknown>): string {
  const words: string[] = [];
  const rest: string[] = [];
  const placed: string[] = [];
  for (const field of command.positionals) {
    const value = input[field];
    if (value === undefined) break;
    placed.push(field);
    // Its words may look like flags.
    if (Array.isArray(value)) rest.push('--', ...value.map(quote));
    else words.push(quote(value));
  }
  const flags = Object.entries(input)
    .filter(([field]) => !placed.includes(field))
    .flatMap(([field, value]) => toFlagWords(toFlag(field), value));
  return [program, command.path, ...words, ...flags, ...rest].join(' ');
}

function toFlagWords(flag: string, value: unknown): string[] {
  if (typeof value === 'boolean') return [value ? `--${flag}` : `--no-${flag}`];
  const values = Array.isArray(value) ? value : [value];
  return values.map((item) => `--${flag} ${quote(item)}`);
}

const quote = (value: unknown): string =>
  shellQuote(typeof value === 'string' ? value : JSON.stringify(value));

function valueName(schema: JsonSchema | undefined, shorthand?: string): string {
  if (shorthand !== undefined)
    return ` ${toFlag(shorthand).toUpperCase()}${schema?.type === 'array' ? '...' : ''}`;
  switch (schema?.type) {
    case 'boolean':
      return '';
    case 'integer':
    case 'number':
      return ' N';
    case 'object':
      return ' JSON';
    case 'array':
      return ` ${schema.items?.type === 'object' ? 'JSON' : 'VALUE'}...`;
    default:
      return ' VALUE';
  }
}

function describe(schema: JsonSchema | undefined, required: boolean): string {
  const notes = [
    ...(required ? ['required'] : []),
    ...(schema?.enum === undefined ? [] : [`one of ${schema.enum.join(', ')}`]),
    ...(schema?.default === undefined || schema.type === 'object'
      ? []
      : [`default ${JSON.stringify(schema.default)}`]),
  ];
  return `${schema?.description ?? ''}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`.trim();
}
