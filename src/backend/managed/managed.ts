import type { FurtherActions } from '../../core/catalog.ts';
import type { MachineServer } from '../../core/link.ts';
import { createFurtherActions, type FurtherActionsOptions } from '../../core/managed/further-actions.ts';
import type {
  ManagedRuntime,
  ManagedSignIn,
  OAuthVault,
  RunnableServer,
  ServerState,
} from '../../core/managed/managed.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { CapabilityProvidersPort } from '../../core/ports/capability-providers.ts';
import type { ManagedServersPort, ManagedToolsPort } from '../../core/ports/managed.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import { createAskMachine } from '../ports/ask-machine.ts';
import type { RandomBytes } from '../secrets.ts';
import type { BackendStore } from '../store/store.ts';
import { createAnnouncer } from './announcer.ts';
import { createBook, type KnownServer } from './book.ts';
import { createMachineFiles } from './machine-file.ts';
import { createPlaces } from './places.ts';
import { createSealer, type Sealer } from './seal.ts';
import { createServersPort } from './servers-port.ts';
import { createSharedWith } from './shared-with.ts';
import { BACKEND, createStates, keyAtMachine } from './states.ts';
import { createToolsPort } from './tools-port.ts';
import { createVault } from './vault.ts';
import { createView } from './view.ts';

/** What the backend needs to have managed MCP servers. */
export interface ManagedOptions {
  /** File of the key that their secrets are sealed under; made when there is the first of them. */
  keyFile: string;
  /** Makes what runs those of them that run here, and what signs in to them. Called once. */
  create(parts: {
    vault: OAuthVault;
    onChange(state: ServerState): void;
    /** A server as it runs here now, whole. */
    find(key: string): RunnableServer | undefined;
  }): { runtime: ManagedRuntime; signIn?: ManagedSignIn };
  /** As the catalog needs it. */
  validatorOf: FurtherActionsOptions['validatorOf'];
}

/** Managed MCP servers of this backend: kept, run here and on machines, their tools as actions. */
export interface Managed {
  servers: ManagedServersPort;
  tools: ManagedToolsPort;
  further: FurtherActions;
  /** Seals what else is secret, under the same key. */
  sealer: Sealer;
  /** Reads what is stored and begins to run what runs here. To be awaited before the first call. */
  open(): Promise<void>;
  /** A machine has been welcomed. */
  machineLinked(machineId: string): void;
  /** How the servers of a machine do, whole. */
  onServers(machineId: string, servers: MachineServer[]): Promise<void>;
  /** Which capability providers count has changed: until it resolves, tools of servers that name one are as before. */
  judgeProviders(): Promise<void>;
  /** Ends what runs here; resolves when none is left. */
  close(): Promise<void>;
}

export function createManaged(options: {
  managed: ManagedOptions;
  store: Pick<BackendStore, 'managed' | 'machines' | 'sessions' | 'feed'>;
  providers: Pick<CapabilityProvidersPort, 'list'>;
  links: MachineLinks;
  runtime: Runtime;
  randomBytes: RandomBytes;
  log: Logger;
}): Managed {
  const { managed, store, links, runtime, randomBytes, log } = options;
  const announcer = createAnnouncer({ append: store.feed.append, log });
  const book = createBook({
    store: store.managed,
    runtime,
    providers: options.providers,
    onChange(name, actions) {
      announcer.server(name);
      if (actions) announcer.catalog();
    },
  });
  const sealer = createSealer({ path: managed.keyFile, randomBytes });
  const vault = createVault({ sealer, book });
  const states = createStates();
  const { runtime: local, signIn } = managed.create({
    vault,
    onChange: noteLocal,
    find: (key) => places.find(key),
  });
  const places = createPlaces({
    book,
    vault,
    states: { note: states.note, noteOne: noteTested },
    local,
    links,
    ask: createAskMachine({ links, machines: store.machines }),
    runtime,
    log,
  });
  const view = createView({ states, places, links });
  const sharedWith = createSharedWith({ book, sessions: store.sessions });
  const noteFiles = createMachineFiles({ book, runtime, log });
  const fail = (error: unknown) => log.error({ error }, 'could not note how a managed server does');

  /** A listing is stored before anybody is told of the state that it came with. */
  function takeIn({ row }: KnownServer, state: ServerState): Promise<void> {
    const listed =
      state.tools === undefined ? Promise.resolve() : book.noteListing(row.serverKey, state.tools);
    return listed.catch(fail).then(() => announcer.server(row.name));
  }

  function noteLocal(state: ServerState): void {
    const server = book.get(state.key);
    if (server === undefined || server.row.place !== BACKEND) return;
    states.note(state);
    void takeIn(server, state);
  }

  /** The report of the machine that follows a test says the same, which is no news then. */
  function noteTested(machineId: string, state: ServerState): void {
    states.noteOne(machineId, state);
    const server = atPlace(machineId).find(({ row }) => keyAtMachine(row) === state.key);
    if (server !== undefined) void takeIn(server, state);
  }

  /** A machine speaks for the servers that run there, and for no other. */
  async function onServers(machineId: string, servers: MachineServer[]): Promise<void> {
    await noteFiles(machineId, servers);
    const before = new Map(
      atPlace(machineId).map(({ row }) => [row.serverKey, JSON.stringify(states.of(row))]),
    );
    states.noteMachine(machineId, servers);
    // All begin at once: who waits for one of them, waits for what has begun.
    const taken = atPlace(machineId).map(async (server) => {
      const { row } = server;
      const state = servers.find(({ state }) => state.key === keyAtMachine(row))?.state;
      if (JSON.stringify(state) === before.get(row.serverKey)) return;
      if (state === undefined) announcer.server(row.name);
      else await takeIn(server, state);
    });
    await Promise.all(taken);
  }

  const atPlace = (place: string) => book.list().filter(({ row }) => row.place === place);

  const unsubscribe = store.feed.subscribe((entry) => {
    if (entry.type !== 'machine.changed' || links.isLinked(entry.machineId)) return;
    states.forgetMachine(entry.machineId);
    for (const { row } of atPlace(entry.machineId)) announcer.server(row.name);
  });

  return {
    sealer,
    servers: createServersPort({
      book,
      vault,
      places,
      states,
      view,
      machines: store.machines,
      signIn,
      sharedWith,
      runtime,
    }),
    tools: createToolsPort({ book, places, sharedWith, runtime }),
    further: createFurtherActions({
      servers: book.entries,
      revision: book.revision,
      validatorOf: managed.validatorOf,
    }),
    async open() {
      await book.load();
      await places.apply(BACKEND);
    },
    machineLinked(machineId) {
      void places.apply(machineId);
    },
    onServers,
    judgeProviders: book.judgeProviders,
    async close() {
      unsubscribe();
      await local.close();
      await book.settled();
      await announcer.close();
    },
  };
}
