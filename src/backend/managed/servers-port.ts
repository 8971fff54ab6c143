import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import { SERVER_LIMITS, type ServerConfig } from '../../core/managed/config.ts';
import type { ManagedSignIn } from '../../core/managed/managed.ts';
import { makeUniqueName } from '../../core/managed/unique-name.ts';
import type { ManagedServer, ManagedServersPort } from '../../core/ports/managed.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { chooseMachine } from '../ports/machines-of.ts';
import type { MachineStore } from '../store/store.ts';
import type { Book, KnownServer } from './book.ts';
import type { Places } from './places.ts';
import { nameTaken, requireOfAccount, requireRunnable, serverNotFound } from './requirements.ts';
import { BACKEND, type States } from './states.ts';
import type { SharedWith } from './shared-with.ts';
import type { Vault } from './vault.ts';
import type { View } from './view.ts';

/** Milliseconds that an answer waits for a first connection. What takes longer is answered as `starting`. */
const FIRST_MS = 15_000;

export function createServersPort(options: {
  book: Book;
  vault: Vault;
  places: Places;
  states: States;
  view: View;
  machines: Pick<MachineStore, 'list' | 'get'>;
  signIn: ManagedSignIn | undefined;
  sharedWith: SharedWith;
  runtime: Pick<Runtime, 'newId'>;
}): ManagedServersPort {
  const { book, vault, places, states, view, machines, signIn, sharedWith, runtime } = options;

  function mustFind(name: string): KnownServer {
    const server = book.find(name);
    if (server === undefined)
      throw serverNotFound(
        name,
        book.list().map(({ row }) => row.name),
      );
    return server;
  }

  async function show(server: KnownServer): Promise<ManagedServer> {
    const { place } = server.row;
    const now = book.get(server.row.serverKey) ?? server;
    return view.toServer(now, place === BACKEND ? undefined : await machines.get(place));
  }

  /** A program runs where the person is, if there is a daemon. */
  async function choosePlace({ where, command }: ServerConfig, caller: Caller): Promise<string> {
    if (where === BACKEND || (where === undefined && command === undefined)) return BACKEND;
    if (where !== undefined) return (await chooseMachine(machines, where, caller)).machineId;
    const own = caller.machineId === undefined ? undefined : await machines.get(caller.machineId);
    return own?.machineId ?? BACKEND;
  }

  /** Runs it as it is configured now, and waits a little for what comes of it. */
  async function runAndShow(server: KnownServer, caller: Caller): Promise<ManagedServer> {
    const { row } = server;
    await places.apply(row.place);
    const waits = row.config?.enabled !== false && !places.isLost(row);
    const linked = places.problemOf(row.place) === undefined && places.isReachable(row.place);
    if (waits && linked) {
      await states.settled(row, Math.min(FIRST_MS, (caller.maxWaitSeconds ?? Infinity) * 1000));
      await book.settled();
    }
    return show(server);
  }

  /** @throws conflict naming the holder */
  function requireFree(name: string, but?: string): void {
    const holder = book.find(name);
    if (holder !== undefined && holder.row.serverKey !== but) throw nameTaken(holder.row);
  }

  const takenNames = () => book.list().map(({ row }) => row.name);

  function requireSignIn({ row }: KnownServer): ManagedSignIn {
    if (row.place === BACKEND && row.config?.url !== undefined && signIn !== undefined) return signIn;
    const why = row.config?.url === undefined ? 'is a program' : `runs on machine ${row.place}`;
    throw new KaiwuError(
      'unsupported',
      `${row.name} ${why}: signing in is for servers with a url that run in the backend.`,
      {
        hint: 'Give it a token or headers in its settings, or add it to the account: `kaiwu mcp servers import`.',
      },
    );
  }

  /** Changes of one server at a time: each begins with what the one before has left. */
  let tail: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = tail.then(work);
    tail = turn.catch(() => {});
    return turn;
  }

  async function change(
    name: string,
    { name: wanted, ...given }: Parameters<ManagedServersPort['update']>[1],
    caller: Caller,
  ): Promise<KnownServer> {
    const { row } = mustFind(name);
    requireOfAccount(row);
    const opened = await vault.open(row);
    requireNothingLost(row.secretNames, opened?.lost === true, given);
    const config = mergeConfig(opened?.config ?? {}, given);
    requireRunnable(config);
    const newName = wanted == null ? row.name : makeUniqueName(wanted, []);
    requireFree(newName, row.serverKey);
    const place = config.where === row.place ? row.place : await choosePlace(config, caller);
    const stored = await vault.close(row.serverKey, { ...config, where: place });
    const renamed = newName === row.name ? {} : { name: newName };
    const updated = await book.update(row.serverKey, { ...stored, place, ...renamed });
    if (updated === undefined) throw serverNotFound(name, takenNames());
    // What its place said of it before is no answer to how it does now.
    if (place !== row.place || isAnother(opened?.config, config)) states.forget(row);
    if (place !== row.place) await places.apply(row.place);
    return updated;
  }

  return {
    list: async (caller) => {
      const known = new Map((await machines.list()).map((machine) => [machine.machineId, machine]));
      return (await sharedWith(caller)).map((server) => view.toServer(server, known.get(server.row.place)));
    },
    async get(name, caller) {
      const server = mustFind(name);
      const shared = await sharedWith(caller);
      if (shared.some(({ row }) => row.serverKey === server.row.serverKey)) return show(server);
      throw serverNotFound(
        name,
        shared.map(({ row }) => row.name),
      );
    },

    async add({ name: wanted, ...config }, caller) {
      requireRunnable(config);
      if (wanted !== undefined) requireFree(makeUniqueName(wanted, []));
      const name = makeUniqueName(wanted, wanted === undefined ? takenNames() : []);
      if (book.list().filter(({ row }) => row.source === 'account').length >= SERVER_LIMITS.servers) {
        throw new KaiwuError(
          'conflict',
          `There are ${SERVER_LIMITS.servers} MCP servers, and more are not kept.`,
          {
            hint: 'Remove one that is not needed.',
          },
        );
      }
      const place = await choosePlace(config, caller);
      const serverKey = runtime.newId('mcps');
      const { sealed, ...stored } = await vault.close(serverKey, { ...config, where: place });
      const row = { serverKey, name, source: 'account' as const, place, ...stored };
      const server = await book.insert(sealed === null ? row : { ...row, sealed });
      if (server === undefined) {
        requireFree(name);
        throw new KaiwuError('conflict', `The name ${name} was taken a moment ago.`);
      }
      return runAndShow(server, caller);
    },

    update: async (name, given, caller) =>
      runAndShow(await inTurn(() => change(name, given, caller)), caller),

    async remove(name) {
      const { row } = mustFind(name);
      if (!view.isDropped(row)) requireOfAccount(row);
      // What a sign-in left at the server itself goes first; here it goes with the row.
      if (row.signIn !== undefined) await signIn?.forget(row.serverKey).catch(() => {});
      await book.remove(row.serverKey);
      states.forget(row);
      await places.apply(row.place);
    },

    async test(name, caller, signal) {
      const server = mustFind(name);
      if (server.row.config?.enabled === false || places.isLost(server.row)) return show(server);
      await places.test(server.row, caller, signal);
      await book.settled();
      return show(server);
    },

    async beginSignIn(name, redirectUri) {
      const server = mustFind(name);
      return requireSignIn(server).begin(server.row.serverKey, redirectUri);
    },

    async completeSignIn(answer, caller) {
      if (signIn === undefined)
        throw new KaiwuError('unsupported', 'This backend signs in to no MCP servers.');
      const { key } = await signIn.complete(answer);
      const server = book.get(key);
      if (server === undefined) throw serverNotFound(key, takenNames());
      await places.test(server.row, caller, new AbortController().signal).catch(() => {});
      await book.settled();
      return show(server);
    },
  };
}

/** What is not given stays, `null` clears. A url for a command, and the other way round, takes the place with it unless that is said. */
function mergeConfig(before: ServerConfig, given: Parameters<ManagedServersPort['update']>[1]): ServerConfig {
  const told = Object.entries(given).filter(([, value]) => value !== undefined);
  const merged = Object.entries({ ...before, ...Object.fromEntries(told) });
  const config = Object.fromEntries(merged.filter(([, value]) => value !== null)) as ServerConfig;
  const isOther = (before.url === undefined) !== (config.url === undefined);
  if (isOther && given.where === undefined) delete config.where;
  return config;
}

/** Whether it has to be connected to anew. */
const isAnother = (before: ServerConfig | undefined, after: ServerConfig): boolean =>
  toConnection(before) !== toConnection(after);

const toConnection = (config: ServerConfig | undefined): string => {
  const { url, command, args, env, cwd, token, headers, oauth, caFile, enabled = true } = config ?? {};
  return JSON.stringify([url, command, args, env, cwd, token, headers, oauth, caFile, enabled]);
};

/** Secrets that are lost are given again all at once: what is left out would be lost for good. */
function requireNothingLost(names: string[], lost: boolean, change: Record<string, unknown>): void {
  if (!lost) return;
  const missing = [...new Set(names.map((name) => name.split('.')[0] ?? name))].filter(
    (field) => change[field] === undefined,
  );
  if (missing.length === 0) return;
  throw new KaiwuError(
    'invalid_input',
    `Sealed values of it do not open any more: give ${missing.join(', ')} too.`,
    {
      hint: 'Give each again, or null to go without it. The rest of the settings is as it was.',
      details: { issues: missing.map((path) => ({ path, message: 'has to be given again' })) },
    },
  );
}
