/** Characters between two columns. */
export const GAP = 2;

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cells that a text takes in a terminal: East Asian wide characters and emoji take two, marks none of their own. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Breaks a text into lines of at most `width` cells. */
export function wrap(text: string, width: number): string[] {
  if (displayWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const cells = displayWidth(segment);
    if (used + cells > width && line !== '') {
      lines.push(line);
      line = '';
      used = 0;
    }
    line += segment;
    used += cells;
  }
  return [...lines, line];
}

/** Lines up cells in columns of the given widths; a long cell goes on below. `paint` is for the first row. */
export function layOut(rows: string[][], widths: number[], paint: (text: string) => string): string {
  return rows
    .map((row, index) => {
      const cells = row.map((cell, i) => wrap(cell, widths[i] ?? 0));
      const height = Math.max(...cells.map((lines) => lines.length));
      const color = index === 0 ? paint : (text: string) => text;
      return Array.from({ length: height }, (_, y) =>
        cells
          .map((lines, i) => pad(lines[y] ?? '', widths[i] ?? 0, color))
          .join(' '.repeat(GAP))
          .trimEnd(),
      ).join('\n');
    })
    .join('\n');
}

function pad(text: string, width: number, color: (text: string) => string): string {
  const shown = text === '' ? '' : color(text);
  return shown + ' '.repeat(Math.max(0, width - displayWidth(text)));
}
