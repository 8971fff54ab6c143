/** Where a text stops being JSON. The engine's own message leaves the place out, or quotes the text. */
export interface JsonFault {
  /** Character, from 0. */
  position: number;
  /** From 1. */
  line: number;
  column: number;
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER_OR_WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** The first fault of a text that `JSON.parse` refused. */
export function findJsonFault(text: string): JsonFault {
  const position = scan(text);
  const before = text.slice(0, position);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { position, line: before.split('\n').length, column: position - lineStart + 1 };
}

/** What may come next: a value, a key, a colon, or a comma or the end of what is open. */
type Want = 'value' | 'first-value' | 'first-key' | 'key' | 'colon' | 'next';

/** Reads token by token, with the open brackets on a stack, and answers where it got stuck. */
function scan(text: string): number {
  const open: string[] = [];
  let want: Want = 'value';
  let at = match(SPACE, text, 0);
  while (at < text.length) {
    const char = text[at] as string;
    const inside = open.at(-1);
    let end = at + 1;
    if (want === 'colon' && char === ':') want = 'value';
    else if (want === 'next' && char === ',' && inside !== undefined) want = inside === '{' ? 'key' : 'value';
    else if ((want === 'next' || want === 'first-key') && char === '}' && inside === '{') {
      open.pop();
      want = 'next';
    } else if ((want === 'next' || want === 'first-value') && char === ']' && inside === '[') {
      open.pop();
      want = 'next';
    } else if ((want === 'key' || want === 'first-key') && char === '"') {
      const fault = stringEnd(text, at);
      if (fault.faulty) return fault.at;
      end = fault.at;
      want = 'colon';
    } else if (want === 'value' || want === 'first-value') {
      if (char === '{' || char === '[') {
        open.push(char);
        want = char === '{' ? 'first-key' : 'first-value';
      } else if (char === '"') {
        const fault = stringEnd(text, at);
        if (fault.faulty) return fault.at;
        end = fault.at;
        want = 'next';
      } else {
        end = match(NUMBER_OR_WORD, text, at);
        if (end === at) return at;
        want = 'next';
      }
    } else return at;
    at = match(SPACE, text, end);
  }
  return at;
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

function stringEnd(text: string, start: number): { at: number; faulty: boolean } {
  let at = start + 1;
  while (at < text.length) {
    const char = text.charCodeAt(at);
    if (char === 0x22) return { at: at + 1, faulty: false };
    if (char < 0x20) return { at, faulty: true };
    const next = char === 0x5c ? match(ESCAPE, text, at) : at + 1;
    if (next === at) return { at, faulty: true };
    at = next;
  }
  return { at, faulty: true };
}
