/**
 * What could fool a reader: control characters, bidi controls, zero-width and other invisible ones, tag characters,
 * lone surrogates. Zero-width joiner and variation selectors are left alone only inside emoji.
 */
const INVISIBLE =
  // biome-ignore format: one class a line
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;

const EMOJI_SEQUENCE =
  /\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]*(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]*)*/gu;

const escapeOf = (char: string): string => {
  const code = char.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
};

/**
 * Text of strangers, made safe to read: what is invisible or moves the cursor becomes a visible escape. Line breaks and
 * tabs stay unless `singleLine`. Markup is not touched: readers render none.
 */
export function toVisibleText(text: string, { singleLine = false } = {}): string {
  const escaped = replaceOutside(text, EMOJI_SEQUENCE, (part) => part.replaceAll(INVISIBLE, escapeOf));
  return singleLine ? escaped.replaceAll('\n', '\\n').replaceAll('\t', '\\t') : escaped;
}

/** Whether a reader sees anything of it. */
export const isVisible = (text: string): boolean => toSpeakableText(text.replaceAll(/[<>]/g, '.')) !== '';

/** Text of strangers, made safe to say: what no reader would see is left out, and so is what a voice could take for markup. */
export const toSpeakableText = (text: string): string =>
  replaceOutside(text, EMOJI_SEQUENCE, (part) => part.replaceAll(INVISIBLE, ''))
    .replaceAll(/[<>]/g, ' ')
    .replaceAll(/[\n\t ]+/g, ' ')
    .trim();

/** Applies `change` to what lies between the matches of `keep`. */
function replaceOutside(text: string, keep: RegExp, change: (part: string) => string): string {
  let result = '';
  let from = 0;
  for (const match of text.matchAll(keep)) {
    result += change(text.slice(from, match.index)) + match[0];
    from = match.index + match[0].length;
  }
  return result + change(text.slice(from));
}

/** A long value with its start and end, so that neither can hide the other. `limit` counts characters. */
export function toShortText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.ceil((limit - 20) * 0.7);
  const tail = Math.max(0, limit - 20 - head);
  return `${text.slice(0, head)} … (${text.length}) … ${tail === 0 ? '' : text.slice(-tail)}`;
}
