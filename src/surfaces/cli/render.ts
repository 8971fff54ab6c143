import type { Column, JsonSchema } from '../../core/spec.ts';
import type { Paint } from './paint.ts';
import { renderTable, type View } from './render-table.ts';
import { indent } from './table.ts';
import { createTimeFormat, isEmpty, isPlainObject, type Row, toLabel, toText } from './values.ts';

export interface RenderOptions {
  /** Columns of the terminal; undefined for a pipe, where nothing is cut. */
  width?: number;
  paint: Paint;
  /** IANA name of the person's time zone. */
  timeZone: string;
}

/** What is known of an output. */
export interface Shape {
  outputSchema?: JsonSchema;
  columns?: Column[];
}

const STEP = 4;

/** An action's output for people: its list as a table, else its fields line by line. */
export function renderOutput(output: Row, shape: Shape, { timeZone, ...options }: RenderOptions): string {
  const view: View = { ...options, time: createTimeFormat(timeZone) };
  const { outputSchema: schema, columns } = shape;
  const listField = findList(output, schema);
  if (listField === undefined) return renderFields(output, schema, view);
  const { [listField]: list, nextCursor, ...others } = output;
  const rows = list as Row[];
  const items = schema?.properties?.[listField]?.items;
  const { paint } = view;
  const parts = [
    rows.length === 0 ? paint.dim(`no ${toLabel(listField)}`) : renderTable(rows, { columns, items }, view),
    ...(typeof nextCursor === 'string'
      ? [paint.dim(`next page: --cursor ${toText(nextCursor, '', view.time)}`)]
      : []),
    ...(Object.keys(others).length === 0 ? [] : ['', renderFields(others, schema, view)]),
  ];
  return parts.join('\n');
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

function renderFields(output: Row, schema: JsonSchema | undefined, view: View): string {
  const entries = flatten(inSchemaOrder(output, schema));
  const width = Math.max(0, ...entries.map(([field]) => toLabel(field).length));
  return entries
    .map(([field, value]) => {
      const label = toLabel(field);
      const text = isTable(value) ? renderInner(value, view) : toText(value, field, view.time);
      if (!isTable(value) && !text.includes('\n')) return `${view.paint.dim(label.padEnd(width))}  ${text}`;
      return `${view.paint.dim(label)}\n${indent(text, STEP, isTable(value) ? undefined : view.width)}`;
    })
    .join('\n');
}

const isTable = (value: unknown): value is Row[] =>
  Array.isArray(value) && value.length > 0 && value.every(isPlainObject);

const renderInner = (rows: Row[], view: View): string =>
  renderTable(rows, {}, view.width === undefined ? view : { ...view, width: view.width - STEP });

/** One level of nested objects becomes `outer.inner`. */
function flatten(output: Row): [string, unknown][] {
  return Object.entries(output)
    .filter(([, value]) => !isEmpty(value))
    .flatMap(([key, value]): [string, unknown][] =>
      isPlainObject(value) && Object.values(value).every((inner) => !isPlainObject(inner))
        ? Object.entries(value)
            .filter(([, inner]) => !isEmpty(inner))
            .map(([inner, text]) => [`${key}.${inner}`, text])
        : [[key, value]],
    );
}

function inSchemaOrder(output: Row, schema: JsonSchema | undefined): Row {
  const order = Object.keys(schema?.properties ?? {});
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  return Object.fromEntries(Object.entries(output).sort(([a], [b]) => place(a) - place(b)));
}
