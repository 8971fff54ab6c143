import type { Column, JsonSchema } from '../../core/spec.ts';
import { displayWidth, GAP } from './table.ts';
import { toItemText } from './template.ts';
import {
  fieldOf,
  isEmpty,
  isPlainObject,
  isTimeField,
  type Row,
  type TimeFormat,
  toLabel,
  toText,
} from './values.ts';

/** A column with its cells, before it is fitted. */
export interface TableColumn {
  label: string;
  cells: string[];
  /** Long text follows the row in place of being cut. */
  whole: boolean;
  /** Cells of terminal that it would take. */
  natural: number;
  /** Fewer make no sense. */
  least: number;
}

/** Fewest cells for a text that is cut. */
const MIN_TEXT = 16;
/** One short word, as ids are, which people copy. Paths and addresses may be cut. */
const KEPT_WHOLE = /^[!-.0-~]{0,40}$/;

/** The columns of a list that have anything to show: as declared, else all fields in the schema's order. */
export function toColumns(
  rows: Row[],
  { columns, items, time }: { columns?: Column[]; items?: JsonSchema; time: TimeFormat },
): TableColumn[] {
  const declared = columns ?? allFields(rows, items);
  return declared
    .map((column) =>
      typeof column === 'string'
        ? { label: toLabel(column.split('.').at(-1) ?? column), of: [column] }
        : column,
    )
    .map((column) => toColumn(rows, column, time))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
}

function allFields(rows: Row[], items: JsonSchema | undefined): Column[] {
  const known = Object.keys(items?.properties ?? {});
  const others = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => !known.includes(key));
  return [...known, ...others].map((field) => ({ label: toLabel(field), of: [field] }));
}

function toColumn(rows: Row[], column: Exclude<Column, string>, time: TimeFormat): TableColumn {
  const { label, of, whole, every, each = {}, between = '\n' } = column;
  const cellOf = (row: Row, field: string): string => {
    const value = fieldOf(row, field);
    const template = each[field];
    if (template === undefined || !Array.isArray(value)) return toText(value, field, time);
    const items = value.filter(isPlainObject);
    return items.map((item) => toItemText(item, template, (part) => toText(part, '', time))).join(between);
  };
  const cells = rows.map((row) => {
    const given = of.filter((field) => !isEmpty(fieldOf(row, field)));
    return (every ? given : given.slice(0, 1)).map((field) => cellOf(row, field)).join('\n');
  });
  const lines = cells.filter((cell) => !(whole && cell.includes('\n')));
  const natural = Math.max(displayWidth(label), ...lines.map(displayWidth));
  const rigid = of.every(isTimeField) || cells.every((cell) => KEPT_WHOLE.test(cell));
  const least = whole ? displayWidth(label) : rigid ? natural : Math.min(natural, MIN_TEXT);
  return { label, cells, whole: whole === true, natural, least };
}

export interface FittedColumn extends TableColumn {
  width: number;
}

/** The columns that fit into a line, each with the room that it gets. One always stays. */
export function fitColumns(columns: TableColumn[], width: number): FittedColumn[] {
  const shown = [...columns];
  const roomFor = () => width - GAP * (shown.length - 1);
  while (sum(shown.map(({ least }) => least)) > roomFor()) {
    const last = shown.findLastIndex(({ whole }) => !whole);
    if (last <= 0) break;
    shown.splice(last, 1);
  }
  const widths = share(shown, roomFor());
  return shown.map((column) => ({ ...column, width: widths.get(column) ?? 1 }));
}

/** Shares the room: who needs less than an equal part leaves the rest to the others. */
function share(columns: TableColumn[], room: number): Map<TableColumn, number> {
  const widths = new Map<TableColumn, number>();
  let left = room - sum(columns.map(({ least }) => least));
  const wanting = columns.toSorted((a, b) => a.natural - a.least - (b.natural - b.least));
  wanting.forEach((column, i) => {
    const more = Math.max(
      0,
      Math.min(column.natural - column.least, Math.floor(left / (columns.length - i))),
    );
    widths.set(column, Math.max(1, Math.min(column.least + more, room)));
    left -= more;
  });
  return widths;
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
