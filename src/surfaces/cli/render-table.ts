import type { Column, JsonSchema, NextStep } from '../../core/spec.ts';
import { type FittedColumn, fitColumns, type TableColumn, toColumns } from './columns.ts';
import type { Paint } from './paint.ts';
import { cut, displayWidth, GAP, indent, pad } from './table.ts';
import { nextStep } from './template.ts';
import { type Row, type TimeFormat, toOneLine } from './values.ts';

/** How a reader sees things. */
export interface View {
  /** Columns of the terminal; undefined for a pipe, where nothing is cut. */
  width?: number;
  paint: Paint;
  time: TimeFormat;
  /** Name that the program was called by. */
  program: string;
}

/** In a pipe a longer cell pushes the next one aside, in place of widening the column. */
const WIDEST_IN_PIPE = 60;
/** Lines that follow a row begin under the second column where that is near. */
const NEAR = 12;
const STEP = 4;

/** A row is one line; text of a `whole` column that does not fit in follows it, moved to the right. */
export function renderTable(
  rows: Row[],
  what: { columns?: Column[]; items?: JsonSchema; next?: NextStep },
  view: View,
): string {
  const { width, paint } = view;
  const data = toColumns(rows, { ...what, time: view.time });
  const steps = rows.map((row) => nextStep(row, what.next, view.program) ?? '');
  const isBeside = steps.some(Boolean) && hasRoom([...data, toStepColumn(steps)], width);
  const all = isBeside ? [...data, toStepColumn(steps)] : data;
  const columns = width === undefined ? all.map(toPipe) : fitColumns(all, width);
  const first = (columns[0]?.width ?? 0) + GAP;
  const step = first <= NEAR ? first : STEP;
  const head = columns.map(({ label, width: room }) => {
    const shown = cut(label, room);
    return paint.bold(shown) + ' '.repeat(Math.max(0, room - displayWidth(shown)));
  });
  const lines = [join(head)];
  let isCut = false;
  for (const i of rows.keys()) {
    const below: string[] = [];
    const cells = columns.map((column) => {
      const text = column.cells[i] ?? '';
      if (column.whole && !fits(text, column.width, width)) {
        below.push(indent(text, step, width));
        return '';
      }
      const line = toOneLine(text);
      const shown = width === undefined ? line : cut(line, column.width);
      isCut ||= shown !== line;
      return pad(shown, column.width);
    });
    if (!isBeside && steps[i]) below.push(' '.repeat(STEP) + steps[i]);
    lines.push(join(cells), ...below);
  }
  const note = toNote(all, columns, isCut);
  return [...lines, ...(note === undefined ? [] : [paint.dim(note)])].join('\n');
}

/** A command is copied: it is never cut nor wrapped, and stands below the row where a line cannot hold both. */
const toStepColumn = (cells: string[]): TableColumn => {
  const natural = Math.max(...cells.map(displayWidth));
  return { label: 'next', cells, whole: false, natural, least: natural };
};

const hasRoom = (columns: TableColumn[], width: number | undefined): boolean =>
  width === undefined || columns.reduce((total, { natural }) => total + natural + GAP, -GAP) <= width;

const join = (cells: string[]): string => cells.join(' '.repeat(GAP)).trimEnd();

const toPipe = (column: TableColumn): FittedColumn => ({
  ...column,
  width: Math.min(column.natural, WIDEST_IN_PIPE),
});

const fits = (text: string, room: number, width: number | undefined): boolean =>
  !text.includes('\n') && (width === undefined || displayWidth(text) <= room);

/** Says where the rest is, if a cell was cut or a column had no room. What a table never shows is no news in each list. */
function toNote(all: TableColumn[], shown: FittedColumn[], isCut: boolean): string | undefined {
  const dropped = all.filter(({ cells }) => !shown.some((column) => column.cells === cells));
  if (dropped.length > 0)
    return `not shown: ${dropped.map(({ label }) => label).join(', ')}; more with --json`;
  return isCut ? 'more with --json' : undefined;
}
