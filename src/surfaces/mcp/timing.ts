/** Every time limit of this surface, milliseconds unless its name says seconds. */
export interface Timing {
  /** Silence of a host after which the backend is contacted unasked. */
  idleMs: number;
  /** Longest wait of `tools/list` for the backend, before it tells the last tools seen. */
  listMs: number;
  progressMs: number;
  /** Longest wait inside one call; hosts that follow progress bear more. */
  waitSeconds: number;
  waitWithProgressSeconds: number;
  /** At the end, calls that the backend has get this long to be answered. */
  answerMs: number;
  /** At the end, calls that still wait for the connection get this long in all. */
  connectMs: number;
  /** At the end, for everything that only has to leave this process. */
  flushMs: number;
  /** Between looks at whether the backend moved, while it cannot be reached. */
  movedMs: number;
  /** An attempt to follow is left alone for this long. */
  restartMs: number;
  /** Between tries to follow what changes, when trying fails at once. */
  followAgainMs: number;
  /** Changes of a resource within this time are told once. */
  updateMs: number;
}

export const TIMING: Timing = {
  idleMs: 50,
  listMs: 1500,
  progressMs: 10_000,
  waitSeconds: 45,
  waitWithProgressSeconds: 3600,
  answerMs: 1000,
  connectMs: 1800,
  flushMs: 300,
  movedMs: 2000,
  restartMs: 1000,
  followAgainMs: 5000,
  updateMs: 500,
};

/** A timer that holds nothing open. */
export const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Reason of a signal: the host is no longer there, which is no word on what it had asked for. */
export class HostHungUp extends Error {
  constructor() {
    super('the host hung up');
    this.name = 'HostHungUp';
  }
}
