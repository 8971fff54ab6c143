import type { Paint } from './paint.ts';
import { displayWidth, pad, wrap } from './table.ts';

/** How help is laid out. */
export interface HelpStyle {
  /** Name that the program was called by. */
  program: string;
  /** Cells of a line. */
  width: number;
  paint: Paint;
}

const MARGIN = 2;
/** With less room than this beside the names, the texts stand below them. */
const LEAST_TEXT = 24;

/** A heading with its lines, or nothing where there are none. */
export const section = (title: string, lines: string[], { paint }: HelpStyle): string[] =>
  lines.length === 0 ? [] : ['', paint.bold(title), ...lines];

/** Names with what they mean, the meaning wrapped in a column of its own. */
export function definitions(
  rows: [name: string, text: string][],
  width: number,
  names = widest(rows),
): string[] {
  const room = width - MARGIN - names - MARGIN;
  const margin = ' '.repeat(MARGIN);
  return rows.flatMap(([name, text]) => {
    if (room < LEAST_TEXT) return [margin + name, ...paragraph(text, width, MARGIN * 2)];
    const [first = '', ...rest] = wrap(text, room);
    const line = `${margin}${pad(name, names)}${margin}${first}`.trimEnd();
    return [line, ...rest.map((more) => ' '.repeat(names + MARGIN * 2) + more)];
  });
}

export const widest = (rows: [name: string, text: string][]): number =>
  Math.max(0, ...rows.map(([name]) => displayWidth(name)));

export const paragraph = (text: string, width: number, margin = 0): string[] =>
  wrap(text, width - margin).map((line) => ' '.repeat(margin) + line);

export const globalFlags = ({ program }: HelpStyle): [string, string][] => [
  ['--server NAME', `Use this profile (see \`${program} server list\`).`],
  ['--server-url URL', 'Use this backend.'],
  ['--webapp-url URL', 'Use this web app for links.'],
  ['--session ID', 'Session where a command needs one and none is given.'],
  ['--json', 'Print one JSON envelope on one line.'],
  ['-h, --help', 'Show help.'],
];
