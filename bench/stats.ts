/** The value below which `share` of the samples lie. */
export function quantile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

export const median = (samples: number[]): number => quantile(samples, 0.5);

/** Runs two things in turn, A B A B, so that both meet the same machine. */
export async function inTurn(
  runs: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<{ a: number[]; b: number[] }> {
  const samples = { a: [] as number[], b: [] as number[] };
  for (let i = 0; i < runs; i++) {
    samples.a.push(await a());
    samples.b.push(await b());
  }
  return samples;
}

/** One line of the table in docs/benchmarks.md. */
export interface Row {
  what: string;
  ours: string;
  reference: string;
  ratio: string;
  target: string;
}

export function toTable(rows: Row[]): string {
  const lines = rows.map(
    ({ what, ours, reference, ratio, target }) => `| ${[what, ours, reference, ratio, target].join(' | ')} |`,
  );
  return ['| what | ours | reference | ratio | target |', '| --- | --- | --- | --- | --- |', ...lines].join(
    '\n',
  );
}
