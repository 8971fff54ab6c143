import type { SessionEventBody } from '../../core/session.ts';

/** Watches a turn for silence. */
export interface StallWatch {
  /** Something new came. */
  heard(): void;
  /** While anything holds it, silence means nothing: a person or the backend is waited for. */
  hold(by: 'person' | 'backend', isHeld: boolean): void;
  stop(): void;
}

export function createStallWatch(options: {
  messageId: string;
  /** Milliseconds of silence. */
  stallMs: number;
  now(): Date;
  append(event: SessionEventBody): void;
}): StallWatch {
  const { messageId, stallMs } = options;
  let since = options.now();
  let stalled = false;
  const holders = new Set<string>();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function wait(): void {
    clearTimeout(timer);
    if (holders.size > 0 || stopped || stalled) return;
    timer = setTimeout(() => {
      stalled = true;
      options.append({ type: 'stalled', messageId, since: since.toISOString() });
    }, stallMs);
  }

  function heard(): void {
    if (stopped) return;
    since = options.now();
    if (stalled) options.append({ type: 'stalled', messageId, since: null });
    stalled = false;
    wait();
  }

  wait();
  return {
    heard,
    hold(by, isHeld) {
      if (holders.has(by) === isHeld) return;
      if (isHeld) holders.add(by);
      else holders.delete(by);
      heard();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
