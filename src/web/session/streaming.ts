/**
 * Text that arrives piece by piece while it is also being stored. Pieces carry no position, and either side may be ahead, so
 * where they begin in the block is found by comparing; from when they are long enough to tell, they only add to it.
 */
export interface LiveBlock {
  pieces: string;
  /** Where `pieces` begin in the block, characters; unknown until they are long enough. */
  offset?: number;
}

/** Characters from which on a match is no accident. */
const SURE = 64;

/** Longest overlap that is looked for, characters: about a second of a fast agent. */
const MAX_OVERLAP = 16_384;

/** What follows the stored text of a block. Where that is not sure, rather less than twice the same. */
export function tailOf(live: LiveBlock, stored: string): string {
  if (stored === '') return live.offset === undefined || live.offset === 0 ? live.pieces : '';
  const offset = live.offset ?? earliest(stored, live.pieces);
  if (live.pieces.length >= SURE) live.offset = offset;
  return live.pieces.slice(Math.max(0, stored.length - offset));
}

/** First place in `stored` at which `pieces` may begin: inside it, or reaching beyond its end. */
function earliest(stored: string, pieces: string): number {
  const inside = stored.indexOf(pieces);
  if (inside >= 0) return inside;
  for (let size = Math.min(stored.length, pieces.length, MAX_OVERLAP); size > 0; size--) {
    if (stored.endsWith(pieces.slice(0, size))) return stored.length - size;
  }
  return stored.length;
}
