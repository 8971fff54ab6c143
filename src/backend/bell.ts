/** Wakes one waiter. Rings that come while nobody waits are kept as one. */
export interface Bell {
  ring(): void;
  /** Resolves at the next ring, or at once if it rang since the last time. */
  heard(): Promise<void>;
}

export function createBell(): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async heard() {
      if (!rung) await new Promise<void>((resolve) => (wake = resolve));
      rung = false;
      wake = undefined;
    },
  };
}
