import type { ActionExecutor } from './call.ts';
import type { CatalogAnswer, FeedEntry } from './feed.ts';
import type { Surface } from './spec.ts';

/** The backend over HTTP, as the surfaces see it. `src/client` has the real one; `src/app` hands it out. */
export interface BackendClient extends ActionExecutor {
  /** Base address, without a trailing slash. */
  readonly url: string;
  /**
   * Catalog of a surface. With `etag` of an answer before, `unchanged` when it still holds.
   * @throws backend_unreachable | not_authenticated
   */
  catalog(
    surface: Surface,
    etag?: string,
    signal?: AbortSignal,
  ): Promise<{ unchanged: true } | { unchanged: false; etag: string; catalog: CatalogAnswer }>;
  /**
   * Follows what changes, reconnecting by itself with growing, jittered delays (1 s to 30 s) and resuming by id,
   * until `signal` aborts. `onState` hears each time the stream comes up or goes down.
   */
  follow(
    options: {
      types?: FeedEntry['type'][];
      sessionId?: string;
      signal: AbortSignal;
      onState?: (up: boolean) => void;
    },
    onEntry: (entry: FeedEntry) => void,
  ): Promise<void>;
}
