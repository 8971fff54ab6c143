import type { Column, JsonSchema } from '../../core/spec.ts';
import { type FittedColumn, fitColumns, type TableColumn, toColumns } from './columns.ts';
import type { Paint } from './paint.ts';
import { cut, displayWidth, GAP, indent, pad } from './table.ts';
import { isEmpty, type Row, type TimeFormat, toOneLine } from './values.ts';

/** How a reader sees things. */
export interface View {
  /** Columns of the terminal; undefined for a pipe, where nothing is cut. */
  width?: number;
  paint: Paint;
  time: TimeFormat;
}

/** In a pipe a longer cell pushes the next one aside, in place of widening the column. */
const WIDEST_IN_PIPE = 60;
/** Lines that follow a row begin under the second column where that is near. */
const NEAR = 12;
const STEP = 4;

/** A row is one line; text of a `whole` column that does not fit in follows it, moved to the right. */
export function renderTable(
  rows: Row[],
  what: { columns?: Column[]; items?: JsonSchema },
  view: View,
): string {
  const { width, paint } = view;
  const all = toColumns(rows, { ...what, time: view.time });
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
    lines.push(join(cells), ...below);
  }
  const note = toNote(rows, all, columns, isCut);
  return [...lines, ...(note === undefined ? [] : [paint.dim(note)])].join('\n');
}

const join = (cells: string[]): string => cells.join(' '.repeat(GAP)).trimEnd();

const toPipe = (column: TableColumn): FittedColumn => ({
  ...column,
  width: Math.min(column.natural, WIDEST_IN_PIPE),
});

const fits = (text: string, room: number, width: number | undefined): boolean =>
  !text.includes('\n') && (width === undefined || displayWidth(text) <= room);

/** Says where the rest is, if anything was left out. */
function toNote(rows: Row[], all: TableColumn[], shown: FittedColumn[], isCut: boolean): string | undefined {
  const dropped = all.filter(({ cells }) => !shown.some((column) => column.cells === cells));
  if (dropped.length > 0)
    return `not shown: ${dropped.map(({ label }) => label).join(', ')}; more with --json`;
  const seen = new Set(shown.flatMap(({ fields }) => fields));
  const isMore = rows.some((row) =>
    Object.keys(row).some((field) => !seen.has(field) && !isEmpty(row[field])),
  );
  return isCut || isMore ? 'more with --json' : undefined;
}
