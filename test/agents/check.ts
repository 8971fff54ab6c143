/** Fails a step in words that its reader can use. */
export function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

export const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 300) ?? 'nothing';
