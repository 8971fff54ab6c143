/** Characters of one passage, about; and how many of the one before it begins with. */
const SIZE = 1200;
const OVERLAP = 150;

/** Passages of one text, at most; what follows is told to be too much before anything is stored. */
export const MAX_PASSAGES = 2000;

/** Cuts a text at paragraphs where it can, else at sentences, else anywhere but inside a character. */
export function toPassages(text: string): string[] {
  const clean = text.replaceAll('\r\n', '\n').replaceAll('\0', ' ').trim();
  const passages: string[] = [];
  let start = 0;
  while (start < clean.length) {
    const end = start + SIZE >= clean.length ? clean.length : cutBefore(clean, start, start + SIZE);
    const passage = clean.slice(start, end).trim();
    if (passage !== '') passages.push(passage);
    if (end === clean.length) break;
    start = Math.max(start + 1, whole(clean, end - OVERLAP));
  }
  return passages;
}

const BREAKS = [/\n\s*\n/g, /\n/g, /[.!?。！？]\s*/g, /\s/g];

/** The last good place to cut, not in the first half. */
function cutBefore(text: string, start: number, end: number): number {
  const from = start + SIZE / 2;
  const half = text.slice(from, end);
  for (const pattern of BREAKS) {
    const last = [...half.matchAll(pattern)].at(-1);
    if (last !== undefined) return from + last.index + last[0].length;
  }
  return whole(text, end);
}

const whole = (text: string, at: number): number =>
  /^[\udc00-\udfff]/.test(text.slice(at, at + 1)) ? at - 1 : at;
