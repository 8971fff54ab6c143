import { KaiwuError } from '../../core/errors.ts';

/** Knows which calls are running, so that the backend can stop without cutting one off. */
export interface Gate {
  /** @throws backend_unreachable once the backend is going down */
  requireOpen(): void;
  /**
   * Runs one call. Its signal aborts, with the caller's reason, when the caller goes away, or when the time for draining is over.
   * @throws backend_unreachable
   */
  run<T>(caller: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Lets nothing more in; waits for what runs, `drainMs` at most, then aborts it and waits a little. */
  close(drainMs: number): Promise<void>;
}

/** Milliseconds for aborted calls to write down how they ended. */
const ABORT_GRACE_MS = 2000;

export function createGate(): Gate {
  const running = new Map<AbortController, Promise<unknown>>();
  let open = true;

  const requireOpen = () => {
    if (open) return;
    throw new KaiwuError('backend_unreachable', 'The backend is going down.', {
      hint: 'Call again in a moment; a restart takes a few seconds.',
      details: { retryAfterSeconds: 1 },
    });
  };

  return {
    requireOpen,
    async run(caller, work) {
      requireOpen();
      const control = new AbortController();
      const abort = () => control.abort(caller.reason);
      caller.addEventListener('abort', abort);
      if (caller.aborted) abort();
      const done = work(control.signal);
      running.set(control, done);
      try {
        return await done;
      } finally {
        caller.removeEventListener('abort', abort);
        running.delete(control);
      }
    },
    async close(drainMs) {
      open = false;
      const settled = () => Promise.allSettled(running.values());
      if (await within(settled(), drainMs)) return;
      for (const control of running.keys()) control.abort();
      await within(settled(), ABORT_GRACE_MS);
    },
  };
}

/** Whether `work` ended within the time. */
export async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const ended = await Promise.race([work.then(() => true), over]);
  clearTimeout(timer);
  return ended;
}
