import type { BackendClient } from '../../core/client.ts';

/** The way to the backend. Made when it is first needed, and made anew when it no longer holds. */
export interface BackendLink {
  /** @throws what connecting throws; the next call tries again */
  get(): Promise<BackendClient>;
  /** It did not hold: the backend may have moved, or the sign-in may have changed. */
  forget(): void;
  /** Settles as the first `get` did. Without one it never does. */
  first: Promise<BackendClient>;
}

export function createBackendLink(connect: () => Promise<BackendClient>): BackendLink {
  let client: Promise<BackendClient> | undefined;
  let settle: (made: Promise<BackendClient>) => void;
  const first = new Promise<BackendClient>((resolve) => {
    settle = resolve;
  });
  return {
    first,
    get() {
      if (client === undefined) {
        const made = connect();
        client = made;
        made.catch(() => {
          if (client === made) client = undefined;
        });
        settle(made);
      }
      return client;
    },
    forget() {
      client = undefined;
    },
  };
}
