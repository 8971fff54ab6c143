/**
 * Text that arrives piece by piece while it is also being stored. Pieces carry no position, so where they begin in the block
 * is found once, by the stored text that ends with how they begin; from then on they only add to it.
 */
export interface LiveBlock {
  pieces: string;
  /** Where `pieces` begin in the block, characters; unknown until stored text was seen after them. */
  offset?: number;
}

/** Longest overlap that is looked for, characters: about a second of a fast agent. */
const MAX_OVERLAP = 16_384;

/** What follows the stored text of a block. */
export function tailOf(live: LiveBlock, stored: string): string {
  if (stored === '') return live.offset === undefined || live.offset === 0 ? live.pieces : '';
  live.offset ??= stored.length - overlap(stored, live.pieces);
  return live.pieces.slice(Math.max(0, stored.length - live.offset));
}

/** Longest beginning of `next` that `stored` ends with. */
function overlap(stored: string, next: string): number {
  for (let size = Math.min(stored.length, next.length, MAX_OVERLAP); size > 0; size--) {
    if (stored.endsWith(next.slice(0, size))) return size;
  }
  return 0;
}
