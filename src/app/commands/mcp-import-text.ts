import { SECRET_FIELDS } from '../../core/managed/config.ts';
import { redactArguments } from '../../core/redact.ts';
import type { CliIo } from '../../surfaces/cli/io.ts';
import { createPaint } from '../../surfaces/cli/paint.ts';
import { renderOutput, type Shape } from '../../surfaces/cli/render.ts';
import { shellQuote } from '../../surfaces/cli/shell-quote.ts';
import type { Skipped, Takeable } from '../host-servers/find-servers.ts';

/** A server that would be taken, without what is secret. */
export interface Shown {
  name: string;
  kind: 'stdio' | 'http';
  /** Scheme and host, or the command. */
  target: string;
  /** Names of values that are sealed. */
  secrets: string[];
  from: string;
  notes: string[];
}

/** One that was taken, and how it does. */
export interface Taken {
  name: string;
  status: string;
  tools: number;
  reason?: string;
}

export const toShown = ({ config, from, notes }: Takeable): Shown => ({
  name: config.name,
  kind: config.url === undefined ? 'stdio' : 'http',
  target:
    config.url === undefined
      ? redactArguments([config.command ?? '', ...(config.args ?? [])])
          .map(shellQuote)
          .join(' ')
      : new URL(config.url).origin,
  secrets: SECRET_FIELDS.flatMap((field) => {
    const value = config[field];
    if (value === undefined) return [];
    return typeof value === 'string' ? [field] : Object.keys(value).map((name) => `${field}.${name}`);
  }),
  from,
  notes,
});

const PLAN: Shape = {
  columns: [
    'name',
    'kind',
    { label: 'command or address', of: ['target'] },
    { label: 'secrets', of: ['secrets'], whole: true },
    { label: 'notes', of: ['notes'], whole: true },
  ],
  outputSchema: listSchema('servers'),
};
const SKIPPED: Shape = {
  columns: ['name', { label: 'reason', of: ['reason'], whole: true }],
  outputSchema: listSchema('servers'),
};
const TAKEN: Shape = {
  columns: ['name', 'status', 'tools', { label: 'reason', of: ['reason'], whole: true }],
  outputSchema: listSchema('servers'),
};

function listSchema(field: string): Shape['outputSchema'] {
  return { type: 'object', properties: { [field]: { type: 'array', items: { type: 'object' } } } };
}

function table(rows: object[], shape: Shape, { width, timeZone, color }: CliIo): string {
  const options = { width, timeZone, paint: createPaint(color), program: '' };
  return renderOutput({ servers: rows }, shape, options);
}

export function toPlanText({ skipped }: { skipped: Skipped[] }, shown: Shown[], io: CliIo): string {
  const paint = createPaint(io.color);
  const sources = [...new Set(shown.map(({ from }) => from))];
  const parts = sources.map((from) => {
    const rows = shown.filter((one) => one.from === from);
    return `${paint.dim(`from ${from}`)}\n${table(rows, PLAN, io)}\n`;
  });
  const left = [...new Set(skipped.map(({ from }) => from))].map((from) => {
    const rows = skipped
      .filter((one) => one.from === from)
      .map((one) => ({ ...one, name: one.name || '(file)' }));
    return `${paint.dim(`skipped in ${from}`)}\n${table(rows, SKIPPED, io)}\n`;
  });
  return `${[...parts, ...left].join('\n')}\n`;
}

export const toTaken = (server: Record<string, unknown>): Taken => ({
  name: String(server['name']),
  status: String(server['status']),
  tools: (server['toolCounts'] as { available: number }).available,
  ...(typeof server['reason'] === 'string' ? { reason: server['reason'] } : {}),
});

export function toOutcomeText(taken: Taken[], program: string, io: CliIo): string {
  if (taken.length === 0) return 'Nothing to take.';
  return `${table(taken, TAKEN, io)}\n\n\`${program} mcp servers list\` shows how they do.`;
}
