export interface DiffLine {
  kind: 'same' | 'add' | 'del' | 'skip';
  text: string;
}

/** Lines compared at most, on each side, after what is equal at both ends is left out. */
const MAX_LINES = 1500;
/** Unchanged lines shown around a change. */
const CONTEXT = 3;

/** What changed from one text to the other, line by line. `undefined` where they are too long to compare. */
export function diffLines(before: string, after: string): DiffLine[] | undefined {
  const a = before === '' ? [] : before.split('\n');
  const b = after === '' ? [] : after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const oldPart = a.slice(start, a.length - end);
  const newPart = b.slice(start, b.length - end);
  if (oldPart.length > MAX_LINES || newPart.length > MAX_LINES) return undefined;
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return shorten([
    ...a.slice(0, start).map(same),
    ...compare(oldPart, newPart),
    ...a.slice(a.length - end).map(same),
  ]);
}

/** Longest common subsequence. */
function compare(a: string[], b: string[]): DiffLine[] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i++] ?? '' });
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'del', text: a[i++] ?? '' });
    } else lines.push({ kind: 'add', text: b[j++] ?? '' });
  }
  return lines;
}

/** Leaves out what is far from any change. */
function shorten(lines: DiffLine[]): DiffLine[] {
  const near = new Set<number>();
  for (const [i, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    for (let at = i - CONTEXT; at <= i + CONTEXT; at++) near.add(at);
  }
  return lines.flatMap((line, i) => {
    if (near.has(i)) return [line];
    return near.has(i - 1) || i === 0 ? [{ kind: 'skip' as const, text: '…' }] : [];
  });
}
