import type { JsonSchema } from '../../core/spec.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import type { Paint } from './paint.ts';
import { displayWidth, GAP, layOut } from './table.ts';

export interface RenderOptions {
  /** Columns of the terminal; undefined for a pipe, where nothing is left out. */
  width?: number;
  paint: Paint;
}

type Row = Record<string, unknown>;

/** Widest a column may grow while others wait for room, characters. */
const MAX_COLUMN = 48;

/**
 * An action's output for people: its list as a table, else its fields line by line. Knows the output by its schema only.
 * What could fool a reader is made visible.
 */
export function renderOutput(output: Row, schema: JsonSchema | undefined, options: RenderOptions): string {
  const listField = findList(output, schema);
  if (listField === undefined) return renderFields(output, schema, options);
  const rows = output[listField] as Row[];
  const itemSchema = schema?.properties?.[listField]?.items;
  const { [listField]: _, ...others } = output;
  const table =
    rows.length === 0
      ? options.paint.dim(`no ${toLabel(listField)}`)
      : renderTable(rows, itemSchema, options);
  const rest = Object.keys(others).length === 0 ? [] : ['', renderFields(others, schema, options)];
  return [table, ...rest].join('\n');
}

/** The one field that holds a list of objects, if the output is such a list. */
function findList(output: Row, schema: JsonSchema | undefined): string | undefined {
  const lists = Object.entries(schema?.properties ?? {})
    .filter(
      ([field, { type, items }]) =>
        type === 'array' && items?.type === 'object' && Array.isArray(output[field]),
    )
    .map(([field]) => field);
  return lists.length === 1 ? lists[0] : undefined;
}

function renderFields(output: Row, schema: JsonSchema | undefined, options: RenderOptions): string {
  const entries = flatten(inSchemaOrder(output, schema));
  const width = Math.max(0, ...entries.map(([label]) => label.length));
  return entries
    .map(([label, value]) => {
      const text = toCell(value, false);
      const indented = text.includes('\n') ? `\n${text.replaceAll(/^/gm, '    ')}` : text;
      return `${options.paint.dim(label.padEnd(width))}  ${indented}`;
    })
    .join('\n');
}

function renderTable(rows: Row[], schema: JsonSchema | undefined, options: RenderOptions): string {
  const columns = pickColumns(rows, schema);
  const cells = [
    columns.map(toLabel),
    ...rows.map((row) => columns.map((column) => toCell(row[column], true))),
  ];
  const widest = options.width === undefined ? Number.POSITIVE_INFINITY : MAX_COLUMN;
  const widths = columns.map((_, i) =>
    Math.min(widest, Math.max(...cells.map((row) => displayWidth(row[i] ?? '')))),
  );
  const shown = fit(widths, options.width);
  const table = layOut(
    cells.map((row) => row.slice(0, shown)),
    widths.slice(0, shown),
    options.paint.bold,
  );
  const hidden = columns.slice(shown).map(toLabel);
  const note =
    hidden.length === 0 ? '' : `\n${options.paint.dim(`not shown: ${hidden.join(', ')} (use --json)`)}`;
  return table + note;
}

/** Scalar fields that some row has, in the schema's order; what the schema does not know comes last. */
function pickColumns(rows: Row[], schema: JsonSchema | undefined): string[] {
  const known = Object.keys(schema?.properties ?? {});
  const others = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => !known.includes(key));
  return [...known, ...others].filter((key) => rows.some((row) => !isEmpty(row[key])));
}

/** How many columns fit into a line. One always does. */
function fit(widths: number[], width: number | undefined): number {
  if (width === undefined) return widths.length;
  let used = 0;
  const fitting = widths.findIndex((column) => {
    used += column;
    if (used > width) return true;
    used += GAP;
    return false;
  });
  return fitting === -1 ? widths.length : Math.max(1, fitting);
}

/** One level of nested objects becomes `outer.inner`. */
function flatten(output: Row): [string, unknown][] {
  return Object.entries(output)
    .filter(([, value]) => !isEmpty(value))
    .flatMap(([key, value]): [string, unknown][] =>
      isPlainObject(value) && Object.values(value).every((inner) => !isPlainObject(inner))
        ? Object.entries(value)
            .filter(([, inner]) => !isEmpty(inner))
            .map(([inner, text]) => [`${toLabel(key)}.${toLabel(inner)}`, text])
        : [[toLabel(key), value]],
    );
}

function inSchemaOrder(output: Row, schema: JsonSchema | undefined): Row {
  const order = Object.keys(schema?.properties ?? {});
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  return Object.fromEntries(Object.entries(output).sort(([a], [b]) => place(a) - place(b)));
}

function toCell(value: unknown, singleLine: boolean): string {
  if (isEmpty(value)) return '';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return toCell(value.join(', '), singleLine);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return toVisibleText(text, { singleLine });
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

const isPlainObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `sessionId` reads `session id`. Names may be a stranger's too. */
const toLabel = (field: string): string =>
  toVisibleText(field, { singleLine: true }).replaceAll(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`);
