import type { SessionEventBody } from '../../core/session.ts';

type TextKind = 'text' | 'thought';

/** Text is stored when it has waited this long or is this large, so that a crash loses little and rows stay few. */
const FLUSH_MS = 1000;
const FLUSH_CHARS = 8 * 1024;
/** Most characters of one event. */
const EVENT_CHARS = 64 * 1024;
/** Live text goes out in pieces of this age, cut to this size: viewers read what is stored soon after. */
const DELTA_MS = 40;
const DELTA_CHARS = 16 * 1024;

export interface TextOutput {
  append(events: SessionEventBody[]): void;
  delta(delta: { messageId: string; kind: TextKind; block: number; text: string }): void;
  /** Hears when text that waited could not be stored. */
  onError(error: unknown): void;
}

/** Gathers the chunks of a turn's text into events. */
export interface TextBuffer {
  add(kind: TextKind, text: string): void;
  /** What is held, as events that the caller stores before something else. What follows is a new block. */
  take(): SessionEventBody[];
}

export function createTextBuffer(messageId: string, output: TextOutput): TextBuffer {
  let kind: TextKind = 'text';
  let block = 0;
  /** Whether the block has any text. */
  let begun = false;
  let held = '';
  let live = '';
  let flushTimer: NodeJS.Timeout | undefined;
  let deltaTimer: NodeJS.Timeout | undefined;

  function toEvents(whole: boolean): SessionEventBody[] {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    // Agents cut text between the two halves of one character; the half waits for its other.
    const keep = !whole && /[\uD800-\uDBFF]$/.test(held) ? 1 : 0;
    const text = held.slice(0, held.length - keep);
    held = held.slice(held.length - keep);
    const events: SessionEventBody[] = [];
    for (let start = 0; start < text.length; ) {
      let end = Math.min(start + EVENT_CHARS, text.length);
      if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
      events.push({
        type: kind === 'text' ? 'agent_text' : 'agent_thought',
        messageId,
        block,
        text: text.slice(start, end),
      });
      start = end;
    }
    return events;
  }

  function tellLive(): void {
    clearTimeout(deltaTimer);
    deltaTimer = undefined;
    if (live !== '') output.delta({ messageId, kind, block, text: live.slice(0, DELTA_CHARS) });
    live = '';
  }

  function store(events: SessionEventBody[]): void {
    if (events.length > 0) output.append(events);
  }

  function storeLate(): void {
    try {
      store(toEvents(false));
    } catch (error) {
      output.onError(error);
    }
  }

  function take(): SessionEventBody[] {
    if (!begun) return [];
    tellLive();
    const events = toEvents(true);
    block += 1;
    begun = false;
    return events;
  }

  return {
    add(nextKind, text) {
      if (text === '') return;
      if (nextKind !== kind) {
        store(take());
        kind = nextKind;
      }
      begun = true;
      held += text;
      if (live.length < DELTA_CHARS) live += text;
      deltaTimer ??= setTimeout(tellLive, DELTA_MS);
      if (held.length >= FLUSH_CHARS) store(toEvents(false));
      else flushTimer ??= setTimeout(storeLate, FLUSH_MS);
    },
    take,
  };
}
