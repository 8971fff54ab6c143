import { KaiwuError } from '../core/errors.ts';
import { SERVER_TIMEOUTS } from '../core/managed/config.ts';
import {
  MANAGED_LIMITS,
  type ManagedCall,
  type RunnableServer,
  type ServerState,
  type ToolCallResult,
} from '../core/managed/managed.ts';
import { toShortText, toVisibleText } from '../core/visible-text.ts';
import { callTool } from './call-tool.ts';
import type { ConnectionDeps, OpenedTransport, OpenTransport } from './connection.ts';
import { createHide } from './hide.ts';
import { EndedAtProbe, type Link, openLink } from './link/open-link.ts';
import { createStartPace } from './start-pace.ts';
import { createListKeeper, type ListKeeper } from './tools/list-keeper.ts';
import { listTools } from './tools/list-tools.ts';

export interface ManagedServerOptions {
  server: RunnableServer;
  deps: ConnectionDeps;
  open: OpenTransport;
  /** Resolves when what ran before it is gone. */
  after?: Promise<unknown>;
  onChange(state: ServerState): void;
}

/** One server: its connection, made and kept, and what is known of it. */
export interface ManagedServer {
  /** Starts connecting; never waits. */
  begin(): void;
  state(): ServerState;
  /** Takes settings that do not touch the connection. */
  setServer(server: RunnableServer): void;
  call(call: ManagedCall, signal: AbortSignal): Promise<ToolCallResult>;
  test(signal: AbortSignal): Promise<ServerState>;
  /** Ends what runs. May be called again after it failed. */
  close(): Promise<void>;
}

/** So many calls in a row that fail make a server degraded. */
const FAILURES = 3;
const TIMEOUT_FIELDS = {
  call: 'timeoutSeconds',
  connect: 'connectTimeoutSeconds',
  list: 'listTimeoutSeconds',
  start: 'startTimeoutSeconds',
} as const;

export function createManagedServer(options: ManagedServerOptions): ManagedServer {
  const { deps, open } = options;
  const { log } = deps;
  let { server } = options;
  const hide = createHide(server.config);
  const pace = createStartPace(deps);
  const life = new AbortController();

  let link: Link | undefined;
  let keeper: ListKeeper | undefined;
  /** Under way: resolves when there is a link; `settled` when its tools were listed or it came to nothing. */
  let attempt: { linked: Promise<Link>; settled: Promise<void> } | undefined;
  let retry: { timer: NodeJS.Timeout; at: Date } | undefined;
  /** Ways that are not known to be gone yet. */
  const ways = new Set<OpenedTransport>();
  let lastWay: OpenedTransport | undefined;
  let isOldOnly = false;
  let openCalls = 0;

  let failure: KaiwuError | undefined;
  let listProblem: string | undefined;
  let callProblem: string | undefined;
  let failedCalls = 0;
  let hasListed = false;
  let tools = server.cached;
  let warnings: string[] = [];
  let starts = 0;
  let since = deps.now();
  let lastTold = '';

  const limitMs = (name: keyof typeof SERVER_TIMEOUTS): number =>
    (server.config[TIMEOUT_FIELDS[name]] ?? SERVER_TIMEOUTS[name]) * 1000;
  const isOn = () => server.config.enabled !== false && !life.signal.aborted;
  const clean = (text: string): string =>
    toShortText(toVisibleText(hide(text), { singleLine: true }), MANAGED_LIMITS.reason);

  function status(): ServerState['status'] {
    if (server.config.enabled === false) return 'disabled';
    if (link !== undefined) {
      if (listProblem !== undefined || callProblem !== undefined) return 'degraded';
      return hasListed ? 'ready' : 'starting';
    }
    if (failure === undefined) return 'starting';
    return failure.code === 'mcp_sign_in_needed' ? 'sign_in_needed' : 'failed';
  }

  function state(): ServerState {
    const now = status();
    const reason = link === undefined ? failure?.message : (listProblem ?? callProblem);
    const stderrTail = lastWay?.stderrTail() ?? '';
    return {
      key: server.key,
      status: now,
      ...(reason === undefined || now === 'disabled' ? {} : { reason: clean(reason) }),
      ...(stderrTail === '' ? {} : { stderrTail }),
      ...(link === undefined ? {} : { protocolVersion: link.protocolVersion, transport: link.opened.kind }),
      ...(link?.serverInfo === undefined ? {} : { serverInfo: link.serverInfo }),
      ...(tools === undefined ? {} : { tools }),
      warnings: warnings.map(clean),
      noiseLines: lastWay?.noiseLines() ?? 0,
      starts,
      since: since.toISOString(),
      ...(retry === undefined ? {} : { nextTryAt: retry.at.toISOString() }),
    };
  }

  let lastStatus = status();
  /** Tells of what others act on; counts and the tail of stderr alone are no news. */
  function tell(): void {
    if (status() !== lastStatus) {
      lastStatus = status();
      since = deps.now();
    }
    const { stderrTail, noiseLines, starts: _, since: __, ...news } = state();
    const text = JSON.stringify(news);
    if (text === lastTold) return;
    lastTold = text;
    const told = state();
    log.info({ server: server.config.name, status: told.status, reason: told.reason }, 'managed server');
    options.onChange(told);
  }

  async function connect(): Promise<Link> {
    const once = () => {
      starts += 1;
      pace.started();
      return openLink({
        server,
        deps,
        open,
        isOldOnly,
        limitMs: limitMs(server.config.url === undefined ? 'start' : 'connect'),
        signal: life.signal,
        onToolsChanged: () => keeper?.changed(),
        onOpened(opened) {
          lastWay = opened;
          ways.add(opened);
        },
        onSignInNeeded(error) {
          if (link?.opened === lastWay) drop(error);
        },
      });
    };
    try {
      await options.after;
      await closeWays();
      life.signal.throwIfAborted();
      return await once().catch(async (error: unknown) => {
        if (!(error instanceof EndedAtProbe)) throw error;
        // Programs built on old libraries end at the first question that they do not know.
        isOldOnly = true;
        await closeWays();
        return once();
      });
    } catch (error) {
      // Whoever waits hears of it before the rest of it is gone.
      void closeWays().catch(() => {});
      throw toFailure(error);
    }
  }

  const toFailure = (error: unknown): KaiwuError =>
    error instanceof KaiwuError
      ? error
      : new KaiwuError(
          'mcp_server_unavailable',
          `protocol: ${error instanceof Error ? error.message : 'unknown'}`,
        );

  function start(): NonNullable<typeof attempt> {
    if (attempt !== undefined) return attempt;
    clearTimeout(retry?.timer);
    retry = undefined;
    const linked = connect();
    const settled = linked.then(
      async (made) => {
        adopt(made);
        await keeper?.list();
      },
      (error: KaiwuError) => fail(error),
    );
    const mine = { linked, settled };
    attempt = mine;
    void settled.finally(() => {
      if (attempt === mine) attempt = undefined;
    });
    tell();
    return mine;
  }

  function adopt(made: Link): void {
    link = made;
    attempt = undefined;
    failure = listProblem = callProblem = undefined;
    failedCalls = 0;
    hasListed = false;
    const mine = createListKeeper({
      now: deps.now,
      hasTools: made.hasTools,
      async read(signal) {
        const limit = AbortSignal.timeout(limitMs('list'));
        const either = AbortSignal.any([signal, limit]);
        return listTools((params) => made.request('tools/list', params, either)).catch((error: Error) => {
          throw limit.aborted ? new Error(`it did not end within ${limitMs('list') / 1000} s`) : error;
        });
      },
      onListed(listing) {
        tools = listing.tools;
        warnings = listing.warnings;
        if (!made.hasTools) warnings = ['It offers no tools.'];
        hasListed = true;
        listProblem = undefined;
        tell();
      },
      onEmpty() {
        hasListed = true;
        warnings = ['It lists no tools, time and again.'];
        if ((tools?.length ?? 0) > 0) {
          listProblem = 'listing: it lists no tools any more; those of before are still offered';
        }
        tell();
      },
      onFailed(error) {
        if (error instanceof KaiwuError && error.code === 'mcp_sign_in_needed') return drop(error);
        hasListed = true;
        listProblem = `listing: ${error instanceof Error ? error.message : 'it failed'}`;
        tell();
      },
    });
    keeper = mine;
    void made.gone.then(() => {
      mine.stop();
      if (link === made) {
        drop(new KaiwuError('mcp_server_unavailable', `command: ${made.opened.whyGone() ?? 'it is gone'}.`));
      }
    });
    tell();
  }

  /** The connection is of no use any more. */
  function drop(why: KaiwuError): void {
    keeper?.stop();
    link = undefined;
    void closeWays().catch(() => {});
    fail(why);
  }

  function fail(why: KaiwuError): void {
    if (life.signal.aborted) return;
    failure = why;
    // Only a person can sign in.
    if (why.code !== 'mcp_sign_in_needed' && isOn()) {
      const ms = pace.failed();
      retry = {
        at: new Date(deps.now().getTime() + ms),
        timer: setTimeout(() => void start().settled, ms),
      };
    }
    tell();
  }

  async function closeWays(): Promise<void> {
    const results = await Promise.allSettled(
      [...ways].map(async (way) => {
        await way.close();
        ways.delete(way);
      }),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** @throws why there is none */
  async function ready(signal: AbortSignal): Promise<Link> {
    if (!isOn()) throw unavailable('it is switched off');
    if (link !== undefined) return link;
    if (attempt === undefined && failure?.code === 'mcp_sign_in_needed') throw asCallError(failure);
    if (attempt === undefined && !pace.mayStart()) throw asCallError(failure);
    const canceled = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new KaiwuError('canceled', 'The call was canceled.')), {
        once: true,
      });
    });
    return Promise.race([
      start().linked.catch((error: KaiwuError) => {
        throw asCallError(error);
      }),
      canceled,
    ]);
  }

  const unavailable = (why: string): KaiwuError =>
    new KaiwuError('mcp_server_unavailable', `The MCP server ${server.config.name} cannot be used: ${why}.`);

  /** Names the server: its own words do not. */
  function asCallError(error: KaiwuError | undefined): KaiwuError {
    if (error === undefined) return unavailable('it is not connected');
    const code = error.code === 'mcp_sign_in_needed' ? error.code : 'mcp_server_unavailable';
    const next = retry === undefined ? '' : ` The next attempt is at ${retry.at.toISOString()}.`;
    return new KaiwuError(
      code,
      clean(`The MCP server ${server.config.name} cannot be used: ${error.message}${next}`),
      {
        hint:
          error.hint ??
          `\`kaiwu mcp servers test ${server.config.name}\` connects anew and tells what is wrong.`,
      },
    );
  }

  function noteCall(problem: string | undefined): void {
    failedCalls = problem === undefined ? 0 : failedCalls + 1;
    if (problem === undefined) callProblem = undefined;
    else if (failedCalls >= FAILURES)
      callProblem = `calls: ${FAILURES} in a row failed, the last one: ${problem}`;
    else return;
    tell();
  }

  return {
    begin() {
      if (isOn()) void start().settled;
      tell();
    },
    state,
    setServer(next) {
      server = next;
      tell();
    },
    async call(call, signal) {
      if (signal.aborted) throw new KaiwuError('canceled', 'The call was canceled.');
      const current = await ready(signal);
      openCalls += 1;
      try {
        return await callTool({
          link: current,
          call,
          name: server.config.name,
          definition: tools?.find(({ name }) => name === call.tool),
          limitMs: limitMs('call'),
          clean,
          signal,
          onOutcome: noteCall,
          onSignInNeeded(error) {
            if (link === current) drop(error);
          },
        });
      } finally {
        openCalls -= 1;
      }
    },
    async test(signal) {
      if (isOn()) {
        // The calls of others are not cut off for a test: then the connection that stands is what is tested.
        if (link !== undefined && openCalls === 0) {
          keeper?.stop();
          link = undefined;
        }
        failure = link === undefined ? undefined : failure;
        const settled = link === undefined ? start().settled : keeper?.list();
        const canceled = new Promise<never>((_, reject) => {
          signal.addEventListener(
            'abort',
            () => reject(new KaiwuError('canceled', 'The test was canceled.')),
            {
              once: true,
            },
          );
        });
        await Promise.race([settled, canceled]);
      }
      return state();
    },
    async close() {
      life.abort();
      keeper?.stop();
      link = undefined;
      clearTimeout(retry?.timer);
      retry = undefined;
      // Whatever an attempt has opened by now is among the ways.
      await attempt?.linked.catch(() => {});
      await closeWays();
    },
  };
}
