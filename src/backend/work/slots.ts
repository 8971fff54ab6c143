/** Runs so many works of one key at once; the others wait their turn. */
export interface Slots {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createSlots(max: number): Slots {
  const taken = new Map<string, { running: number; waiting: (() => void)[] }>();
  return {
    async run(key, work) {
      const slot = taken.get(key) ?? { running: 0, waiting: [] };
      taken.set(key, slot);
      // A slot that is handed on stays counted, so that nobody slips in between.
      if (slot.running < max) slot.running += 1;
      else await new Promise<void>((resolve) => slot.waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = slot.waiting.shift();
        if (next !== undefined) next();
        else if (--slot.running === 0) taken.delete(key);
      }
    },
  };
}
