import type { ActionData, Column, JsonSchema, NextStep } from '../../core/spec.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import type { Paint } from './paint.ts';
import { renderTable, type View } from './render-table.ts';
import { indent } from './table.ts';
import { nextStep, toItemText } from './template.ts';
import {
  createTimeFormat,
  fieldOf,
  toOneLine,
  isEmpty,
  isPlainObject,
  type Row,
  toLabel,
  toText,
} from './values.ts';

export interface RenderOptions {
  /** Columns of the terminal; undefined for a pipe, where nothing is cut. */
  width?: number;
  paint: Paint;
  /** IANA name of the person's time zone. */
  timeZone: string;
  /** Name that the program was called by. */
  program: string;
}

/** What is known of an output. */
export interface Shape {
  outputSchema?: JsonSchema;
  columns?: Column[];
  next?: NextStep;
  headline?: ActionData['headline'];
}

const STEP = 4;
/** Longer JSON, characters, is laid out over several lines. */
const SHORT_JSON = 60;
const DEEPEST = 4;
/** An output of more fields is no list, but for a declared one. */
const MOST_FIELDS = 2;

/** An action's output for people: its list as a table, else its fields line by line. */
export function renderOutput(output: Row, shape: Shape, { timeZone, ...options }: RenderOptions): string {
  const view: View = { ...options, time: createTimeFormat(timeZone) };
  const { outputSchema: schema, columns, next } = shape;
  const listField = findList(output, shape);
  if (listField === undefined) {
    const step = nextStep(output, next, view.program);
    const first = toHeadline(output, shape, view);
    return [
      ...(first === undefined ? [] : [view.paint.bold(first), '']),
      renderFields(output, schema, view),
      ...(step === undefined ? [] : ['', `${view.paint.dim('next')}  ${step}`]),
    ].join('\n');
  }
  const { [listField]: list, nextCursor, ...others } = output;
  const rows = list as Row[];
  const items = schema?.properties?.[listField]?.items;
  const { paint } = view;
  const parts = [
    rows.length === 0
      ? paint.dim(`no ${toLabel(listField)}`)
      : renderTable(rows, { columns, items, next }, view),
    ...(typeof nextCursor === 'string'
      ? [paint.dim(`next page: --cursor ${toText(nextCursor, '', view.time)}`)]
      : []),
    ...(Object.keys(others).length === 0 ? [] : ['', renderFields(others, schema, view)]),
  ];
  return parts.join('\n');
}

function toHeadline(output: Row, { headline }: Shape, { time }: View): string | undefined {
  const by = headline === undefined ? undefined : fieldOf(output, headline.by);
  if (typeof by !== 'string' || !Object.hasOwn(headline!.texts, by)) return undefined;
  return toOneLine(toItemText(output, headline!.texts[by] as string, (value) => toText(value, '', time)));
}

/** The field that holds a list of objects, if the output is that list and not a thing with a list inside. */
function findList(output: Row, { outputSchema, columns }: Shape): string | undefined {
  const fields = Object.entries(outputSchema?.properties ?? {});
  const lists = fields
    .filter(
      ([field, { type, items }]) =>
        type === 'array' && items?.type === 'object' && Array.isArray(output[field]),
    )
    .map(([field]) => field);
  const isMain = columns !== undefined || fields.length <= MOST_FIELDS;
  return lists.length === 1 && isMain ? lists[0] : undefined;
}

function renderFields(output: Row, schema: JsonSchema | undefined, view: View): string {
  const entries = flatten(output, schema);
  const width = Math.max(0, ...entries.map(([field]) => toLabel(field).length));
  return entries
    .map(([field, value]) => {
      const label = toLabel(field);
      const isLaidOut = isTable(value) || isPlainObject(value);
      const text = isTable(value)
        ? renderInner(value, view)
        : isPlainObject(value)
          ? toJson(value)
          : toText(value, field, view.time);
      if (!isTable(value) && !text.includes('\n')) return `${view.paint.dim(label.padEnd(width))}  ${text}`;
      return `${view.paint.dim(label)}\n${indent(text, STEP, isLaidOut ? undefined : view.width)}`;
    })
    .join('\n');
}

const isTable = (value: unknown): value is Row[] =>
  Array.isArray(value) && value.length > 0 && value.every(isPlainObject);

const renderInner = (rows: Row[], view: View): string =>
  renderTable(rows, {}, view.width === undefined ? view : { ...view, width: view.width - STEP });

function toJson(value: Row): string {
  const line = JSON.stringify(value);
  return toVisibleText(line.length <= SHORT_JSON ? line : JSON.stringify(value, undefined, 2));
}

/**
 * What is inside an object becomes `outer.inner`. One whose schema leaves open what it holds stays as it is where it is deep or
 * has keys that are no names: a path through it would be read wrongly.
 */
function flatten(output: Row, schema: JsonSchema | undefined, outer: string[] = []): [string, unknown][] {
  const order = Object.keys(schema?.properties ?? {});
  const place = ([key]: [string, unknown]) => (order.includes(key) ? order.indexOf(key) : order.length);
  return Object.entries(output)
    .filter(([, value]) => !isEmpty(value))
    .sort((a, b) => place(a) - place(b))
    .flatMap(([key, value]): [string, unknown][] => {
      const path = [...outer, key];
      const inner = schema?.properties?.[key];
      const isOpen = inner !== undefined && Object.keys(inner.properties ?? {}).length === 0;
      return isPlainObject(value) && (!isOpen || isShallow(value)) && path.length <= DEEPEST
        ? flatten(value, inner, path)
        : [[path.join('.'), value]];
    });
}

/** Levels of objects inside an open one that are still read as fields. */
const OPEN_LEVELS = 1;

const isShallow = (value: Row, levels = OPEN_LEVELS): boolean =>
  Object.entries(value).every(
    ([key, inner]) =>
      /^\w+$/.test(key) && (!isPlainObject(inner) || (levels > 0 && isShallow(inner, levels - 1))),
  );
