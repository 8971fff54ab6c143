/** What the page takes from its browser, in one place. */

export const now = (): number => Date.now();

export const newId = (): string => crypto.randomUUID().replaceAll('-', '');

/** Kept by this origin. A browser that keeps nothing is no reason to fail. */
export const kept = {
  get(name: string): string | undefined {
    try {
      return localStorage.getItem(`kaiwu.${name}`) ?? undefined;
    } catch {
      return undefined;
    }
  },
  set(name: string, value: string | undefined): void {
    try {
      if (value === undefined) localStorage.removeItem(`kaiwu.${name}`);
      else localStorage.setItem(`kaiwu.${name}`, value);
    } catch {
      // It is asked for again next time.
    }
  },
  /** Of all whose names begin so. */
  forgetAll(prefix: string): void {
    try {
      for (const key of Object.keys(localStorage))
        if (key.startsWith(`kaiwu.${prefix}`)) localStorage.removeItem(key);
    } catch {
      // Nothing was kept.
    }
  },
  /** Hears of changes that other tabs make. */
  onChange(name: string, listener: (value: string | undefined) => void): void {
    addEventListener('storage', ({ key, newValue }) => {
      if (key === `kaiwu.${name}`) listener(newValue ?? undefined);
    });
  },
};

/**
 * `ask` does it now, or once, when somebody looks at the page again.
 * @param work is not done any more after `forget`
 */
export function whenSeen(work: () => void): { ask(): void; forget(): void } {
  let waits = false;
  const onChange = (): void => {
    if (!waits || document.hidden) return;
    waits = false;
    work();
  };
  document.addEventListener('visibilitychange', onChange);
  return {
    ask() {
      waits = true;
      onChange();
    },
    forget: () => document.removeEventListener('visibilitychange', onChange),
  };
}

/** A browser by the name that people know it by, for the list of devices. */
export function browserName(): string {
  const { userAgent } = navigator;
  const named = [
    ['Edg/', 'Edge'],
    ['OPR/', 'Opera'],
    ['Firefox/', 'Firefox'],
    ['Chrome/', 'Chrome'],
    ['Safari/', 'Safari'],
  ] as const;
  const systems = [
    ['iPhone', 'iPhone'],
    ['iPad', 'iPad'],
    ['Android', 'Android'],
    ['Mac OS', 'macOS'],
    ['Windows', 'Windows'],
    ['Linux', 'Linux'],
  ] as const;
  const find = (table: readonly (readonly [string, string])[]) =>
    table.find(([mark]) => userAgent.includes(mark))?.[1];
  return [find(named) ?? 'Browser', find(systems)].filter((part) => part !== undefined).join(', ');
}

export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Between a half and all of it, so that many pages do not come at once. */
export const spread = (ms: number): number => ms * (0.5 + Math.random() / 2);
