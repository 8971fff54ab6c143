import type { MemoryHit } from '../../core/ports/memory.ts';
import { toWords } from '../../core/search.ts';

/** Passages that an answer without a model quotes, and sentences of each. */
const QUOTED = 3;
const SENTENCES = 2;

/** The passages' own words that fit a question best, each with the number of its passage. */
export function toExtract(question: string, hits: readonly MemoryHit[]): string {
  const wanted = new Set(toWords(question));
  return hits
    .slice(0, QUOTED)
    .map(({ text }, i) => `${bestOf(text, wanted)} [${i + 1}]`)
    .join('\n\n');
}

/** The sentences with most of the words, in their own order. */
function bestOf(text: string, wanted: ReadonlySet<string>): string {
  const sentences = text.match(/[^.!?。！？\n]+[.!?。！？]*\s*/g) ?? [text];
  return sentences
    .map((sentence, i) => ({
      sentence: sentence.trim(),
      i,
      score: new Set(toWords(sentence).filter((word) => wanted.has(word))).size,
    }))
    .toSorted((a, b) => b.score - a.score || a.i - b.i)
    .slice(0, SENTENCES)
    .toSorted((a, b) => a.i - b.i)
    .map(({ sentence }) => sentence)
    .join(' ');
}
