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
import type { ConnectionDeps, OpenTransport } from './connection.ts';
import { createHide } from './hide.ts';
import { createConnector } from './link/connector.ts';
import type { Link } from './link/open-link.ts';
import { createToldState, type ServerFacts } from './server-state.ts';
import { createStartPace } from './start-pace.ts';
import { createListKeeper, type ListKeeper } from './tools/list-keeper.ts';
import { listTools } from './tools/list-tools.ts';
import { within } from './within.ts';

export interface ManagedServerOptions {
  server: RunnableServer;
  deps: ConnectionDeps;
  open: OpenTransport;
  /** Resolves when what ran before it is gone. */
  after?: Promise<unknown> | undefined;
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
/** A server over HTTP may be another one after an update, and its session is renewed without a word. */
const REFRESH_MS = 10 * 60_000;

const TIMEOUT_FIELDS = {
  call: 'timeoutSeconds',
  connect: 'connectTimeoutSeconds',
  list: 'listTimeoutSeconds',
  start: 'startTimeoutSeconds',
} as const;

export function createManagedServer(options: ManagedServerOptions): ManagedServer {
  const { deps, open } = options;
  const { key, config, cached } = options.server;
  const hide = createHide(config);
  const clean = (text: string): string =>
    toShortText(toVisibleText(hide(text), { singleLine: true }), MANAGED_LIMITS.reason);
  const pace = createStartPace(deps);
  const life = new AbortController();
  const facts: ServerFacts = {
    server: options.server,
    hasListed: false,
    tools: cached,
    warnings: [],
    starts: 0,
  };
  const told = createToldState(facts, deps, clean, options.onChange);
  /** Under way: `linked` when there is a connection, `settled` when it was listed too or came to nothing. */
  let attempt: { linked: Promise<Link>; settled: Promise<void> } | undefined;
  let retry: NodeJS.Timeout | undefined;
  let keeper: ListKeeper | undefined;
  let openCalls = 0;
  let failedCalls = 0;

  const limitMs = (name: keyof typeof SERVER_TIMEOUTS): number =>
    (facts.server.config[TIMEOUT_FIELDS[name]] ?? SERVER_TIMEOUTS[name]) * 1000;
  const isOn = () => config.enabled !== false && !life.signal.aborted;

  const connector = createConnector(
    () => ({
      server: facts.server,
      deps,
      open,
      limitMs: limitMs(config.url === undefined ? 'start' : 'connect'),
      signal: life.signal,
      onToolsChanged: () => keeper?.changed(),
      onOpened(opened) {
        facts.way = opened;
      },
      onSignInNeeded(error) {
        if (facts.link?.opened === facts.way) drop(error);
      },
    }),
    () => {
      facts.starts += 1;
      pace.started();
    },
  );

  function start(): NonNullable<typeof attempt> {
    if (attempt !== undefined) return attempt;
    clearTimeout(retry);
    facts.nextTryAt = undefined;
    const linked = Promise.resolve(options.after).then(connector.connect);
    const settled = linked.then(
      (link) => {
        attempt = undefined;
        return adopt(link).list();
      },
      (error: KaiwuError) => {
        attempt = undefined;
        fail(error);
      },
    );
    attempt = { linked, settled };
    told.tell();
    return attempt;
  }

  function adopt(link: Link): ListKeeper {
    failedCalls = 0;
    Object.assign(facts, {
      link,
      hasListed: false,
      failure: undefined,
      listProblem: undefined,
      callProblem: undefined,
    });
    const mine = createListKeeper({
      now: deps.now,
      hasTools: link.hasTools,
      refreshMs: link.opened.kind === 'stdio' ? undefined : REFRESH_MS,
      read: (signal) => read(link, signal),
      onListed({ tools, warnings }) {
        const odd = link.hasTools ? warnings : ['It offers no tools.', ...warnings];
        Object.assign(facts, { tools, warnings: odd, hasListed: true, listProblem: undefined });
        told.tell();
      },
      onEmpty() {
        facts.hasListed = true;
        facts.warnings = ['It lists no tools, time and again.'];
        if ((facts.tools?.length ?? 0) > 0) {
          facts.listProblem = 'listing: it lists no tools any more; those of before are still offered';
        }
        told.tell();
      },
      onFailed(error) {
        if (error instanceof KaiwuError && error.code === 'mcp_sign_in_needed') return drop(error);
        facts.hasListed = true;
        facts.listProblem = `listing: ${error instanceof Error ? error.message : 'it failed'}`;
        told.tell();
      },
    });
    keeper = mine;
    void link.gone.then(() => {
      mine.stop();
      if (facts.link === link) drop(toLost(link));
      return undefined;
    });
    told.tell();
    return mine;
  }

  async function read(link: Link, signal: AbortSignal) {
    const limit = AbortSignal.timeout(limitMs('list'));
    const either = AbortSignal.any([signal, limit]);
    try {
      return await listTools((params) => link.request('tools/list', params, either));
    } catch (error) {
      throw limit.aborted ? new Error(`it did not end within ${limitMs('list') / 1000} s`) : error;
    }
  }

  const toLost = ({ opened }: Link): KaiwuError =>
    new KaiwuError(
      'mcp_server_unavailable',
      `${opened.kind === 'stdio' ? 'command' : 'address'}: ${opened.whyGone() ?? 'the connection is gone'}.`,
    );

  /** The connection is of no use any more. */
  function drop(why: KaiwuError): void {
    keeper?.stop();
    facts.link = undefined;
    void connector.close().catch(() => {});
    fail(why);
  }

  function fail(why: KaiwuError): void {
    if (!isOn()) return;
    facts.failure = why;
    // Only a person can sign in.
    if (why.code !== 'mcp_sign_in_needed') {
      const ms = pace.failed();
      facts.nextTryAt = new Date(deps.now().getTime() + ms);
      clearTimeout(retry);
      retry = setTimeout(start, ms);
    }
    told.tell();
  }

  /** @throws why there is no connection */
  async function ready(signal: AbortSignal): Promise<Link> {
    if (!isOn()) throw asCallError(new KaiwuError('mcp_server_unavailable', 'it is switched off.'));
    if (facts.link !== undefined) return facts.link;
    const mayNot = facts.failure?.code === 'mcp_sign_in_needed' || !pace.mayStart();
    if (attempt === undefined && mayNot) throw asCallError(facts.failure);
    const linked = start().linked.catch((error: KaiwuError) => {
      throw asCallError(error);
    });
    return within(linked, signal, 'The call was canceled.');
  }

  /** Names the server: the reason of its state does not. */
  function asCallError(error: KaiwuError | undefined): KaiwuError {
    const { name } = facts.server.config;
    const next =
      facts.nextTryAt === undefined ? '' : ` The next attempt is at ${facts.nextTryAt.toISOString()}.`;
    const why = error?.message ?? 'it is not connected.';
    return new KaiwuError(
      error?.code === 'mcp_sign_in_needed' ? error.code : 'mcp_server_unavailable',
      clean(`The MCP server ${name} cannot be used: ${why}${next}`),
      { hint: error?.hint ?? `\`kaiwu mcp servers test ${name}\` connects anew and tells what is wrong.` },
    );
  }

  function noteCall(problem: string | undefined): void {
    failedCalls = problem === undefined ? 0 : failedCalls + 1;
    // It answers again: its list may do so too.
    if (problem === undefined && facts.listProblem !== undefined) keeper?.changed();
    const isBad = failedCalls >= FAILURES;
    // Telling costs as much as the list is long; most calls change nothing.
    if (isBad === (facts.callProblem !== undefined)) return;
    facts.callProblem = isBad
      ? `calls: at least ${FAILURES} in a row failed, the last one so: ${problem}`
      : undefined;
    told.tell();
  }

  return {
    begin() {
      if (isOn()) start();
      told.tell();
    },
    state: told.read,
    setServer(server) {
      facts.server = server;
      told.tell();
    },
    async call(call, signal) {
      if (signal.aborted) throw new KaiwuError('canceled', 'The call was canceled.');
      openCalls += 1;
      try {
        const link = await ready(signal);
        return await callTool({
          link,
          call,
          name: facts.server.config.name,
          definition: facts.tools?.find(({ name }) => name === call.tool),
          limitMs: limitMs('call'),
          clean,
          signal,
          onOutcome: noteCall,
          onSignInNeeded(error) {
            if (facts.link === link) drop(error);
          },
          // Listing anew tells whether it is gone, and goes on trying until it is back.
          onUnreachable: () => keeper?.changed(),
        });
      } finally {
        openCalls -= 1;
      }
    },
    async test(signal) {
      if (isOn()) {
        // The calls of others are not cut off for a test: then the connection that stands is what is tested.
        if (openCalls === 0) {
          keeper?.stop();
          facts.link = facts.failure = undefined;
        }
        const settled = facts.link === undefined ? start().settled : keeper?.list();
        await within(settled ?? Promise.resolve(), signal, 'The test was canceled.');
      }
      return told.read();
    },
    async close() {
      deps.log.debug({ server: key }, 'a managed server is ended');
      life.abort();
      keeper?.stop();
      clearTimeout(retry);
      facts.link = facts.nextTryAt = undefined;
      // Whatever an attempt has opened is known once it has ended.
      await attempt?.linked.catch(() => {});
      await connector.close();
    },
  };
}
