/** Edits (insert, delete, replace, swap of neighbours) between two short texts. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, before[j - 2]! + 1);
      }
      row.push(best);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}

const fold = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The `count` names that look most like `received`, best first. */
export function nearest(received: string, names: readonly string[], count: number): string[] {
  const wanted = fold(received.slice(0, 80));
  return names
    .map((name) => ({ name, distance: editDistance(wanted, fold(name)) }))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

/** The one name that `received` was probably meant to be: at most two edits away, one for a short word. */
export function misspelt(received: string, names: readonly string[]): string | undefined {
  const [best] = nearest(received, names, 1);
  if (best === undefined) return undefined;
  const allowed = fold(best).length <= 4 ? 1 : 2;
  return editDistance(fold(received.slice(0, 80)), fold(best)) <= allowed ? best : undefined;
}
