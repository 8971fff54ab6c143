import { MANAGED_LIMITS } from '../../core/managed/managed.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import type { Hide } from '../hide.ts';

/** Bytes held of what was written; more than what is shown, so that a secret is whole where the shown part begins. */
const HELD = 4 * MANAGED_LIMITS.stderr;

export interface StderrTail {
  push(chunk: Buffer): void;
  /** The end of it, secrets hidden, safe to read. */
  read(): string;
  /** The last line that says something. */
  lastLine(): string;
}

/** Keeps the end of what a program writes to stderr, however much that is. */
export function createStderrTail(hide: Hide): StderrTail {
  let held: Buffer[] = [];
  let size = 0;
  let isCut = false;

  function compact(): Buffer {
    const whole = Buffer.concat(held);
    const kept = whole.subarray(-HELD);
    isCut ||= kept.length < whole.length;
    held = [kept];
    size = kept.length;
    return kept;
  }

  function read(): string {
    const bytes = compact();
    // What is left of the line in which the cut fell may begin inside a secret or a character.
    const from = isCut ? bytes.indexOf('\n') + 1 || HELD / 2 : 0;
    const text = toVisibleText(hide(new TextDecoder().decode(bytes.subarray(from)).replaceAll('\r\n', '\n')));
    const end = Buffer.from(text.trim());
    return end.length <= MANAGED_LIMITS.stderr
      ? text.trim()
      : new TextDecoder().decode(end.subarray(-MANAGED_LIMITS.stderr)).replace(/^\ufffd+/, '');
  }

  return {
    push(chunk) {
      held.push(chunk);
      size += chunk.length;
      if (size > 2 * HELD) compact();
    },
    read,
    lastLine: () => read().split('\n').at(-1)?.trim() ?? '',
  };
}
