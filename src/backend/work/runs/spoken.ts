import { toResult } from './result.ts';

/** Characters that somebody listens to without losing the thread. */
const SPOKEN_MAX = 600;

/** Characters of a longer answer that are looked at. */
const ANSWER_MAX = 20_000;

/** The short spoken form of an answer: what the agent gave as such, else its words without what only makes sense on a screen. */
export function toSpoken(answer: string): string {
  const { result } = toResult('voice_agent', answer);
  const text =
    typeof result?.spoken === 'string' ? result.spoken : toPlainSpeech(answer.slice(0, ANSWER_MAX));
  return shorten(text.replaceAll(/\s+/g, ' ').trim());
}

const toPlainSpeech = (answer: string): string =>
  answer
    .replaceAll(/^[^\S\n]{0,3}```[\s\S]*?(^[^\S\n]{0,3}```|$(?![\s\S]))/gm, ' ')
    // Blanks of the same line only: over many empty lines `\s` would be tried again from each of them.
    .replaceAll(/^[^\S\n]*(#{1,6}|[-*+]|>|\d+[.)])[^\S\n]+/gm, '')
    .replaceAll(/[`*_]{1,3}/g, '');

/** At the end of a sentence where there is one, else of a word. */
function shorten(text: string): string {
  if (text.length <= SPOKEN_MAX) return text;
  const cut = text.slice(0, SPOKEN_MAX);
  const sentence = Math.max(...['. ', '! ', '? ', '。', '！', '？'].map((end) => cut.lastIndexOf(end)));
  if (sentence > SPOKEN_MAX / 2) return cut.slice(0, sentence + 1).trimEnd();
  const word = cut.lastIndexOf(' ');
  return `${cut.slice(0, word > 0 ? word : SPOKEN_MAX).trimEnd()}…`;
}
