import type * as z from 'zod';
import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import { LINK_MAX_FRAME } from '../../core/link.ts';
import { SERVER_TIMEOUTS } from '../../core/managed/config.ts';
import type {
  ManagedRuntime,
  RunnableServer,
  ServerState,
  ToolCallResult,
} from '../../core/managed/managed.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { AskMachine } from '../ports/ask-machine.ts';
import type { StoredServer } from '../store/managed-store.ts';
import type { Book } from './book.ts';
import { serverStateSchema, toolCallResultSchema } from './frames.ts';
import { BACKEND, keyAtMachine, type States } from './states.ts';
import type { Vault } from './vault.ts';

/** Milliseconds by which the backend waits longer than a daemon, so that the daemon's own answer comes first. */
const SLACK_MS = 15_000;
const APPLY_MS = 30_000;
/** Bytes of a call's arguments: a frame that is too large would end the link, and every other call with it. */
const MAX_ARGUMENTS = LINK_MAX_FRAME / 2;

/** Where servers run: here, and on machines through their links. */
export interface Places {
  /** Makes a place run what is configured for it now. Resolves when it knows; never waits for a server. */
  apply(place: string): Promise<void>;
  /** A server that runs here, as it runs now. */
  find(serverKey: string): RunnableServer | undefined;
  /** Why nothing is run at a machine although it is linked. */
  problemOf(place: string): KaiwuError | undefined;
  /** Whether it can be asked now. */
  isReachable(place: string): boolean;
  /** Whether the secrets of a server did not open when it was last to be run. */
  isLost(row: StoredServer): boolean;
  call(
    row: StoredServer,
    tool: string,
    args: Record<string, unknown>,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<ToolCallResult>;
  /** Connects anew and lists. */
  test(row: StoredServer, caller: Caller, signal: AbortSignal): Promise<ServerState>;
}

export function createPlaces(options: {
  book: Pick<Book, 'list'>;
  vault: Pick<Vault, 'open'>;
  states: Pick<States, 'noteOne' | 'note'>;
  local: ManagedRuntime;
  links: MachineLinks;
  ask: AskMachine;
  runtime: Pick<Runtime, 'newId'>;
  log: Logger;
}): Places {
  const { book, vault, local, links, ask, runtime, log } = options;
  const turns = new Map<string, Promise<void>>();
  const problems = new Map<string, KaiwuError>();
  const lost = new Set<string>();
  let here: readonly RunnableServer[] = [];

  /** What shall run at a place. One whose secrets are lost would fail in ways that say nothing of the cause. */
  async function runnable(place: string): Promise<RunnableServer[]> {
    const servers: RunnableServer[] = [];
    for (const { row } of book.list()) {
      if (row.place !== place || row.source === 'file' || row.config?.enabled === false) continue;
      const opened = await vault.open(row);
      if (opened?.lost === true) lost.add(row.serverKey);
      else lost.delete(row.serverKey);
      if (opened === undefined || opened.lost) continue;
      const { serverKey: key, name, listing } = row;
      // A machine's frames are bounded, and the backend itself keeps what it listed.
      const cached = place === BACKEND && listing !== undefined ? { cached: listing } : {};
      servers.push({ key, config: { ...opened.config, name }, ...cached });
    }
    return servers;
  }

  async function applyNow(place: string): Promise<void> {
    const servers = await runnable(place);
    if (place === BACKEND) {
      here = servers;
      local.apply(servers);
      for (const state of local.states()) options.states.note(state);
      return;
    }
    if (!links.isLinked(place)) return;
    try {
      await links.request(place, 'mcp.apply', { servers }, APPLY_MS);
      problems.delete(place);
    } catch (error) {
      if (!(error instanceof KaiwuError)) throw error;
      if (error.code !== 'machine_offline') problems.set(place, error);
      if (servers.length > 0) log.warn({ machineId: place, reason: error.message }, 'servers not applied');
    }
  }

  async function callMachine(
    row: StoredServer,
    call: { tool: string; args: Record<string, unknown>; caller: Caller },
    signal: AbortSignal,
  ): Promise<ToolCallResult> {
    const { tool, args, caller } = call;
    const bytes = Buffer.byteLength(JSON.stringify(args));
    if (bytes > MAX_ARGUMENTS) throw tooLarge(tool, bytes);
    const callId = runtime.newId('call');
    const timeoutMs = (row.config?.timeoutSeconds ?? SERVER_TIMEOUTS.call) * 1000;
    const params = {
      callId,
      key: keyAtMachine(row),
      tool,
      arguments: args,
      client: caller.client,
      timeoutMs,
    };
    const answer = ask(row.place, 'mcp.call', params, caller, timeoutMs + SLACK_MS);
    answer.catch(() => {});
    const taken = takenBack(signal, () => links.notify(row.place, 'mcp.cancel', { callId }));
    try {
      const result = await Promise.race([answer, taken.back]);
      return readAnswer(toolCallResultSchema, result, row);
    } finally {
      taken.stop();
    }
  }

  return {
    apply(place) {
      const turn = (turns.get(place) ?? Promise.resolve())
        .then(() => applyNow(place))
        .catch((error: unknown) => log.error({ place, error }, 'could not apply managed servers'));
      turns.set(place, turn);
      return turn;
    },
    find: (serverKey) => here.find(({ key }) => key === serverKey),
    problemOf: (place) => problems.get(place),
    isReachable: (place) => place === BACKEND || links.isLinked(place),
    isLost: ({ serverKey }) => lost.has(serverKey),

    call(row, tool, args, caller, signal) {
      if (row.place !== BACKEND) return callMachine(row, { tool, args, caller }, signal);
      const call = { key: row.serverKey, tool, arguments: args, client: caller.client };
      return local.call(call, signal);
    },

    async test(row, caller, signal) {
      if (row.place === BACKEND) {
        const state = await local.test(row.serverKey, signal);
        options.states.note(state);
        return state;
      }
      const { connect, list, start } = SERVER_TIMEOUTS;
      const { connectTimeoutSeconds, listTimeoutSeconds, startTimeoutSeconds } = row.config ?? {};
      const seconds =
        (connectTimeoutSeconds ?? connect) + (listTimeoutSeconds ?? list) + (startTimeoutSeconds ?? start);
      const answer = ask(
        row.place,
        'mcp.test',
        { key: keyAtMachine(row) },
        caller,
        seconds * 1000 + SLACK_MS,
      );
      answer.catch(() => {});
      const taken = takenBack(signal, () => {});
      try {
        const state = readAnswer(serverStateSchema, await Promise.race([answer, taken.back]), row);
        options.states.noteOne(row.place, state);
        return state;
      } finally {
        taken.stop();
      }
    },
  };
}

const tooLarge = (tool: string, bytes: number) =>
  new KaiwuError(
    'payload_too_large',
    `The arguments of ${tool} have ${bytes} bytes; a machine takes at most ${MAX_ARGUMENTS}.`,
    { hint: 'The call was not made. Send less at once.' },
  );

/** Rejects when the caller takes the call back, having told whoever works on it. */
function takenBack(signal: AbortSignal, tell: () => void): { back: Promise<never>; stop(): void } {
  let stop = () => {};
  const back = new Promise<never>((_, reject) => {
    const onAbort = () => {
      tell();
      reject(new KaiwuError('canceled', 'The call was taken back before the tool had answered.'));
    };
    stop = () => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  back.catch(() => {});
  return { back, stop };
}

/** What a machine answers is believed as little as what it says unasked. */
function readAnswer<T>(schema: z.ZodType<T>, answer: unknown, { name, place }: StoredServer): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new KaiwuError(
    'mcp_server_unavailable',
    `Machine ${place} answered for the MCP server ${name} with what is no answer.`,
    { hint: 'Update Kaiwu on that machine, then run `kaiwu daemon restart` there.' },
  );
}
