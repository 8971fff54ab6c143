import { ERRORS } from '../../core/errors.ts';
import type { JsonSchema } from '../../core/spec.ts';
import type { Command } from './command.ts';
import { fieldFlags, toFlag } from './flags.ts';
import type { Paint } from './paint.ts';

const GLOBAL_HELP: [string, string][] = [
  ['--server NAME', 'Use this profile (see `kaiwu server list`).'],
  ['--server-url URL', 'Use this backend.'],
  ['--webapp-url URL', 'Use this web app for links.'],
  ['--session ID', 'Session where a command needs one and none is given.'],
  ['--json', 'Print one JSON envelope on one line.'],
  ['-h, --help', 'Show help.'],
];

/** Help of one command. Needs no backend. */
export function commandHelp(command: Command, paint: Paint): string {
  const { path, inputSchema, positionals } = command;
  const required = new Set(inputSchema.required);
  const slots = positionals.map((field) => (required.has(field) ? `<${field}>` : `[${field}]`));
  const fields = inputSchema.properties ?? {};
  const flags = [...fieldFlags(command)].filter(([, field]) => !positionals.includes(field));
  const rows: [string, string][] = flags.map(([flag, field]) => [
    `--${flag}${valueName(fields[field])}`,
    describe(fields[field], required.has(field)),
  ]);
  if (command.writes) rows.push(['--idempotency-key KEY', 'The same key and input run once.']);
  if (!fieldFlags(command).has('input'))
    rows.push(['--input JSON', 'All fields as one object; - reads stdin.']);
  return [
    command.summary,
    ...(command.description === undefined ? [] : ['', command.description]),
    section('Usage', [`  kaiwu ${[path, ...slots, '[flags]'].join(' ')}`], paint),
    section(
      'Arguments',
      table(positionals.map((field) => [field, describe(fields[field], required.has(field))])),
      paint,
    ),
    section('Flags', table(rows), paint),
    section('Everywhere', table(GLOBAL_HELP), paint),
    section(
      'Examples',
      command.examples.flatMap((example) => toExample(command, example)),
      paint,
    ),
    section('Errors', table(command.errors.map((code) => [code, `exits with ${ERRORS[code].exit}`])), paint),
  ]
    .filter((part) => part !== undefined)
    .join('\n');
}

/** Help of a group of commands, or of all. */
export function groupHelp(path: string, below: readonly Command[], paint: Paint): string {
  const intro =
    path === '' ? 'Kaiwu runs coding agents on your machines and lets you steer them from anywhere.' : '';
  const rows = below.map((command): [string, string] => [command.path, command.summary]);
  return [
    ...(intro === '' ? [] : [intro]),
    section('Usage', [`  kaiwu ${path === '' ? '' : `${path} `}<command> [flags]`], paint),
    section('Commands', table(rows), paint),
    section('Everywhere', table(GLOBAL_HELP), paint),
    '',
    `Help of a command: kaiwu ${path === '' ? 'session list' : (rows[0]?.[0] ?? path)} --help`,
  ]
    .filter((part) => part !== undefined)
    .join('\n');
}

/** The line that a person would type for an input. */
export function toCommandLine(command: Command, input: Record<string, unknown>): string {
  const words: string[] = [];
  for (const field of command.positionals) {
    if (input[field] === undefined) break;
    words.push(quote(input[field]));
  }
  const placed = command.positionals.slice(0, words.length);
  const flags = Object.entries(input)
    .filter(([field]) => !placed.includes(field))
    .flatMap(([field, value]) => toFlagWords(toFlag(field), value));
  return ['kaiwu', command.path, ...words, ...flags].join(' ');
}

function toFlagWords(flag: string, value: unknown): string[] {
  if (typeof value === 'boolean') return [value ? `--${flag}` : `--no-${flag}`];
  const values = Array.isArray(value) ? value : [value];
  return values.map((item) => `--${flag} ${quote(item)}`);
}

function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const toExample = (command: Command, { title, input }: Command['examples'][number]): string[] => [
  `  # ${title}`,
  `  ${toCommandLine(command, input)}`,
];

function valueName(schema: JsonSchema | undefined): string {
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

function section(title: string, lines: string[], paint: Paint): string | undefined {
  return lines.length === 0 ? undefined : `\n${paint.bold(title)}\n${lines.join('\n')}`;
}

function table(rows: [string, string][]): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`.trimEnd());
}
