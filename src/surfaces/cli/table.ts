/** Characters between two columns. */
export const GAP = 2;

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const toGraphemes = (text: string): string[] => Array.from(graphemes.segment(text), ({ segment }) => segment);

/** Cells that a text takes in a terminal: East Asian wide characters and emoji take two, marks none of their own. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const segment of toGraphemes(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Below this many cells, a cut text shows its start only. */
const BOTH_ENDS = 16;
/** Longer than this many characters a cell, a text is too long without being measured. */
const DENSITY = 16;

/** A text in at most `width` cells: its start and its end, so that neither hides the other. */
export function cut(text: string, width: number): string {
  const far = width * DENSITY;
  if (text.length <= far && displayWidth(text) <= width) return text;
  const room = Math.max(0, width - 1);
  const tail = width < BOTH_ENDS ? 0 : Math.floor(room / 3);
  const start = fill(toGraphemes(text.slice(0, far)), room - tail);
  const end = fill(toGraphemes(text.slice(-far)).toReversed(), tail);
  return `${start.join('').trimEnd()}…${end.toReversed().join('').trimStart()}`;
}

/** As many segments as fit into `width` cells. */
function fill(segments: string[], width: number): string[] {
  let used = 0;
  const over = segments.findIndex((segment) => {
    used += displayWidth(segment);
    return used > width;
  });
  return over === -1 ? segments : segments.slice(0, over);
}

/** Breaks a line at spaces into lines of at most `width` cells, and inside a word only where it is longer than that. */
export function wrap(text: string, width: number): string[] {
  if (displayWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const [word] of text.matchAll(/\s*\S+/g)) {
    if (displayWidth(line + word) <= width) {
      line += word;
      continue;
    }
    if (line !== '') lines.push(line);
    const parts = breakUp(word.trimStart(), width);
    lines.push(...parts.slice(0, -1));
    line = parts.at(-1) ?? '';
  }
  return [...lines, line];
}

function breakUp(word: string, width: number): string[] {
  const parts: string[] = [];
  let rest = toGraphemes(word);
  while (rest.length > 0) {
    const part = fill(rest, width);
    // Something must go on each line, however narrow it is.
    const taken = Math.max(1, part.length);
    parts.push(rest.slice(0, taken).join(''));
    rest = rest.slice(taken);
  }
  return parts;
}

/** Text is not wrapped to fewer cells than this, however narrow the terminal is. */
const NARROWEST = 16;

/** A text of several lines, wrapped and moved to the right. */
export function indent(text: string, columns: number, width: number | undefined): string {
  const lines = text.replaceAll('\t', '    ').trimEnd().split('\n');
  const wrapped =
    width === undefined ? lines : lines.flatMap((line) => wrap(line, Math.max(NARROWEST, width - columns)));
  return wrapped.map((line) => `${' '.repeat(columns)}${line}`.trimEnd()).join('\n');
}

/** Fills up to a width. */
export const pad = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - displayWidth(text)));
