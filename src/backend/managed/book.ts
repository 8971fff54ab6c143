import type { ManagedEntry } from '../../core/managed/further-actions.ts';
import type { ToolDefinition } from '../../core/managed/managed.ts';
import { type ToolPin, toPin } from '../../core/managed/pins.ts';
import { type ToolEntry, toToolStates } from '../../core/managed/tool-states.ts';
import type { CapabilityProvider, CapabilityProvidersPort } from '../../core/ports/capability-providers.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { isCounted } from '../registry/capability-providers.ts';
import type {
  ManagedStore,
  NewPin,
  ServerChange,
  ShownConfig,
  StoredPin,
  StoredServer,
} from '../store/managed-store.ts';

/** A server with its tools as they follow from its settings, its last listing and what people accepted. */
export interface KnownServer {
  row: StoredServer;
  pins: ReadonlyMap<string, ToolPin>;
  tools: readonly ToolEntry[];
}

type NewServer = Parameters<ManagedStore['insert']>[0];

/** The servers of the store, at hand for whoever cannot wait; what changes is stored first. */
export interface Book {
  load(): Promise<void>;
  /** By name. */
  list(): readonly KnownServer[];
  /** In any letter case. */
  find(name: string): KnownServer | undefined;
  get(serverKey: string): KnownServer | undefined;
  /** For the catalog; the same array until `revision` answers another one. */
  entries(): readonly ManagedEntry[];
  revision(): string;
  /** Undefined where the name is taken. */
  insert(server: NewServer): Promise<KnownServer | undefined>;
  /** Undefined where it is gone. */
  update(serverKey: string, change: ServerChange): Promise<KnownServer | undefined>;
  remove(serverKey: string): Promise<void>;
  /** Takes a listing in: the first with tools in it is trusted. */
  noteListing(serverKey: string, listing: ToolDefinition[]): Promise<void>;
  accept(serverKey: string, pins: NewPin[], actionIds: string[]): Promise<void>;
  /** Which providers count has changed. */
  judgeProviders(): Promise<void>;
  /** Resolves when the changes that have been asked for are over. */
  settled(): Promise<void>;
}

export function createBook(options: {
  store: ManagedStore;
  runtime: Pick<Runtime, 'sha256'>;
  providers: Pick<CapabilityProvidersPort, 'list'>;
  /** A server changed; `actions` where what the catalog holds of it did. */
  onChange(name: string, actions: boolean): void;
}): Book {
  const { store, runtime } = options;
  const known = new Map<string, KnownServer>();
  let revision = '';
  let entries: readonly ManagedEntry[] = [];
  let providers: readonly CapabilityProvider[] = [];
  let tail: Promise<unknown> = Promise.resolve();

  /** One change after the other, so that what is at hand is what was stored last. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = tail.then(work);
    tail = turn.catch(() => {});
    return turn;
  }

  /** A pin that cannot be read, or is not what its digest says, pins nothing: the tool is held back. */
  const toPins = (pins: StoredPin[]): Map<string, ToolPin> =>
    new Map(
      pins.flatMap(({ tool, digest, definition }) => {
        if (definition === undefined) return [];
        const pin = readPin(definition);
        return pin?.digest === digest && pin.name === tool ? [[tool, pin] as const] : [];
      }),
    );

  function readPin(definition: ToolDefinition): ToolPin | undefined {
    try {
      return toPin(definition, runtime.sha256);
    } catch {
      return undefined;
    }
  }

  function put(row: StoredServer, pins: ReadonlyMap<string, ToolPin>): KnownServer {
    const { name, config = {}, listing } = row;
    const isProviderOff = config.provider !== undefined && !isCounted(config.provider, providers);
    const sources = { server: name, config, tools: listing, pins, isProviderOff };
    const tools = toToolStates(sources, runtime.sha256);
    const server = { row, pins, tools };
    known.set(row.serverKey, server);
    return server;
  }

  function changed(name: string, before: KnownServer | undefined, after: KnownServer | undefined): void {
    const actions = toSignature(before) !== toSignature(after);
    if (actions) renew();
    options.onChange(name, actions);
  }

  function renew(): void {
    entries = list().flatMap((server) => toEntry(server) ?? []);
    // The same after a restart: what a host holds of the catalog stays good.
    revision = entries.length === 0 ? '' : runtime.sha256(list().map(toSignature).join('\n'));
  }

  function list(): KnownServer[] {
    return [...known.values()].toSorted((a, b) => (a.row.name < b.row.name ? -1 : 1));
  }

  /** Stores a change and brings what is at hand up to date. */
  async function change(serverKey: string, change: ServerChange): Promise<KnownServer | undefined> {
    const before = known.get(serverKey);
    const row = before && (await store.update(serverKey, change));
    if (before === undefined || row === undefined) return undefined;
    const after = put(row, before.pins);
    changed(row.name, before, after);
    return after;
  }

  return {
    list,
    get: (serverKey) => known.get(serverKey),
    find: (name) => list().find(({ row }) => row.name.toLowerCase() === name.toLowerCase()),
    entries: () => entries,
    revision: () => revision,

    load: () =>
      inTurn(async () => {
        providers = await options.providers.list();
        const { servers, pins } = await store.all();
        for (const row of servers) {
          put(row, toPins(pins.filter(({ serverKey }) => serverKey === row.serverKey)));
        }
        renew();
      }),

    insert: (server) =>
      inTurn(async () => {
        const row = await store.insert(server);
        if (row === undefined) return undefined;
        const added = put(row, new Map());
        changed(row.name, undefined, added);
        return added;
      }),

    judgeProviders: () =>
      inTurn(async () => {
        providers = await options.providers.list();
        for (const before of list()) {
          if (before.row.config?.provider === undefined) continue;
          changed(before.row.name, before, put(before.row, before.pins));
        }
      }),

    settled: async () => {
      await tail;
    },

    update: (serverKey, fields) => inTurn(() => change(serverKey, fields)),

    remove: (serverKey) =>
      inTurn(async () => {
        await store.remove(serverKey);
        const before = known.get(serverKey);
        known.delete(serverKey);
        if (before !== undefined) changed(before.row.name, before, undefined);
      }),

    noteListing: (serverKey, listing) =>
      inTurn(async () => {
        const before = known.get(serverKey);
        if (before === undefined) return;
        const isFirst = before.row.trustedAt === undefined && listing.length > 0;
        const isSame = JSON.stringify(before.row.listing) === JSON.stringify(listing);
        if (isSame && !isFirst) return;
        const trusted = isFirst
          ? await store.trust(
              serverKey,
              // Of two by one name the first counts.
              listing
                .toReversed()
                .flatMap((definition) => readPin(definition) ?? [])
                .map(toNewPin),
            )
          : undefined;
        const row = await store.update(serverKey, { listing });
        if (row === undefined) return;
        const after = put(row, trusted === undefined ? before.pins : toPins(trusted.pins));
        changed(row.name, before, after);
      }),

    accept: (serverKey, pins, actionIds) =>
      inTurn(async () => {
        const before = known.get(serverKey);
        if (before === undefined) return;
        const accepted = toPins(await store.accept(serverKey, pins, actionIds));
        const after = put(before.row, new Map([...before.pins, ...accepted]));
        changed(before.row.name, before, after);
      }),
  };
}

export const toNewPin = ({ name, digest, definition }: ToolPin): NewPin => ({
  tool: name,
  digest,
  definition,
});

/** What the catalog sees of a server. One whose settings cannot be read has no actions. */
function toEntry(server: KnownServer | undefined): ManagedEntry | undefined {
  const config: ShownConfig | undefined = server?.row.config;
  if (server === undefined || config === undefined) return undefined;
  const { exposure, sessions } = config;
  return {
    key: server.row.serverKey,
    name: server.row.name,
    config: { exposure, sessions },
    tools: server.tools,
  };
}

/** All that an entry's actions are made of; a digest stands for each definition. */
function toSignature(server: KnownServer | undefined): string {
  const entry = toEntry(server);
  if (entry === undefined) return '';
  const tools = entry.tools.map(({ actionId, state, reason, digest, effect }) => [
    actionId,
    state,
    reason,
    digest,
    effect,
  ]);
  return JSON.stringify([entry.key, entry.name, entry.config, tools]);
}
