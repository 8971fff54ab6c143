import type { CatalogAnswer } from '../../core/feed.ts';
import type { Logger } from '../../core/ports/host.ts';
import { EMPTY_POLICY, resolvePolicy } from '../../core/policy.ts';
import type { ActionManifest, Surface } from '../../core/spec.ts';
import type { BackendLink } from './backend-link.ts';
import { createFollower } from './follower.ts';
import { aborted, delay, type Timing } from './timing.ts';
import { type ListableTool, type McpTool, type Sees, toListable, toTools } from './tools.ts';

/** A catalog and the tag that it came with. */
export interface SeenCatalog {
  etag: string;
  catalog: CatalogAnswer;
}

/** Keeps the last catalog seen of this profile from one process to the next. */
export interface ToolsCache {
  read(): Promise<SeenCatalog | undefined>;
  write(seen: SeenCatalog): Promise<void>;
}

/** Tools of a catalog, and a text that differs whenever a host could see a difference. */
interface Known {
  listable: ListableTool[];
  json: string;
}

export interface ToolList {
  /** Starts to fetch, so that the host's first question finds an answer on its way. */
  prefetch(): void;
  /** The tools of now; with the backend out of reach the last ones seen, else the defaults. Never throws for that. */
  list(sees?: Sees): Promise<McpTool[]>;
  /** The backend answered something: whoever waits to hear of it again need not wait longer. */
  reached(): void;
  /** Settles when nothing is being written any more. */
  close(): Promise<void>;
}

export function createToolList(options: {
  surface: Surface;
  backend: BackendLink;
  /** Actions that this version was built with. */
  builtin(): Promise<ActionManifest[]>;
  version: string;
  cache: ToolsCache;
  log: Logger;
  timing: Timing;
  random(): number;
  /** Several hosts ask: what one of them has seen is news to the others. */
  isShared?: boolean;
  /** The host holds another list than the one of now. */
  onChange(): void;
}): ToolList {
  const { backend, cache, log, timing } = options;
  const closed = new AbortController();
  /** The newest catalog known, of the backend or kept from an earlier process, as tools. */
  let tools: Known | undefined;
  let etag: string | undefined;
  let cacheRead: Promise<void> | undefined;
  let cacheWritten: Promise<void> = Promise.resolve();
  /** The backend has confirmed `tools`. */
  let live = false;
  /** Of the list that the host holds, and of the newer one that it was told of since. */
  let told: string | undefined;
  let announced: string | undefined;
  let running: Promise<void> | undefined;
  let again = false;

  /** One fetch at a time; a change during a fetch makes another one follow. */
  function refresh(): Promise<void> {
    running ??= fetchCatalog().finally(() => {
      running = undefined;
      if (again) recheck();
    });
    return running;
  }

  async function fetchCatalog(): Promise<void> {
    again = false;
    try {
      const [client] = await Promise.all([backend.get(), readCacheOnce()]);
      const answer = await client.catalog(options.surface, etag, closed.signal);
      if (!answer.unchanged) {
        tools = toKnown(answer.catalog);
        etag = answer.etag;
        cacheWritten = cache
          .write({ etag, catalog: answer.catalog })
          .catch((error) => log.warn({ error: String(error) }, 'tool list not kept'));
      }
      live = true;
    } catch (error) {
      backend.forget();
      throw error;
    }
  }

  const readCacheOnce = (): Promise<void> => (cacheRead ??= readCache());

  async function readCache(): Promise<void> {
    try {
      const seen = await cache.read();
      if (seen === undefined) return;
      tools = toKnown(seen.catalog);
      etag = seen.etag;
    } catch (error) {
      log.warn({ error: String(error) }, 'last tool list unusable');
    }
  }

  /** Fetches anew and tells the host when it holds another list. */
  function recheck(): void {
    if (closed.signal.aborted) return;
    if (running !== undefined) {
      again = true;
      return;
    }
    refresh().then(announce, noteUnreachable);
  }

  function announce(): void {
    const now = tools?.json;
    if (told === undefined || told === now || announced === now) return;
    announced = now;
    if (options.isShared === true) told = now;
    options.onChange();
  }

  const noteUnreachable = (error: unknown) => {
    if (!closed.signal.aborted) log.warn({ error: String(error) }, 'tool list not refreshed');
  };

  function toKnown(catalog: CatalogAnswer): Known {
    const listable = toListable(catalog, log);
    return { listable, json: JSON.stringify(listable.map(({ tool, entry }) => [tool, entry.managed])) };
  }

  async function toDefaults(): Promise<Known> {
    const manifests = await options.builtin();
    const actions = manifests.map((manifest) => ({
      ...manifest,
      policy: resolvePolicy(EMPTY_POLICY, manifest, options.surface),
    }));
    return toKnown({
      surface: options.surface,
      policyVersion: 0,
      backendVersion: options.version,
      actions,
    });
  }

  const follower = createFollower({
    backend,
    log,
    timing,
    random: options.random,
    types: ['policy.changed', 'catalog.changed'],
    onChange: () => recheck(),
  });

  return {
    prefetch: () => void refresh().catch(noteUnreachable),
    async list(sees) {
      const first = told === undefined;
      // What was fetched ahead is new enough: from here on changes are followed, beginning with a look at now.
      if (!(live && (first || follower.isUp()))) {
        await Promise.race([refresh().catch(noteUnreachable), delay(timing.listMs), aborted(closed.signal)]);
        await readCacheOnce();
      }
      const known = tools ?? (await toDefaults());
      if (options.isShared !== true || first) {
        told = known.json;
        announced = undefined;
      }
      if (first && !closed.signal.aborted) follower.start();
      return toTools(known.listable, log, sees);
    },
    reached: () => follower.reached(),
    close() {
      closed.abort();
      follower.close();
      return cacheWritten;
    },
  };
}
