import { type BackendMethods, LINK_PROTOCOL } from '../core/link.ts';
import { createGuardian } from '../process/guardian.ts';
import { createAgentRegistry } from './agents/registry.ts';
import { createFiles } from './files/files.ts';
import { createHandlers } from './handlers.ts';
import { createJournal } from './journal/journal.ts';
import { createMachineLink, type LinkStatus } from './link/link.ts';
import { createEventSender } from './link/sender.ts';
import { createManagedServers, type ManagedStatus } from './managed/managed.ts';
import { type DaemonOptions, LINK_LIMITS, SESSION_LIMITS } from './options.ts';
import { createOneByOne } from './session/one-by-one.ts';
import { createSessions, type SessionInfo } from './session/sessions.ts';

/** How long an answer waits for the events that belong to it to reach the backend first. */
const FLUSH_MS = 10_000;
/** How long an agent's start waits for each step of learning the conversation so far. */
const TAIL_MS = 5000;
const ASK_MS = 10_000;

export interface DaemonStatus {
  version: string;
  machineId: string;
  /** New at each start. */
  instanceId: string;
  link: LinkStatus;
  sessions: SessionInfo[];
  outbox: { events: number };
  /** Absent where no managed MCP servers are run. */
  managed?: ManagedStatus;
}

/** Starts agents, owns their processes and brings what they do to the backend. */
export interface Daemon {
  /** Settles what an earlier daemon left, then links. */
  start(): Promise<void>;
  /** Cancels turns, ends agents, and gives the last events up to `graceMs` to reach the backend. Idempotent. */
  stop(options?: { graceMs?: number }): Promise<void>;
  status(): DaemonStatus;
  /** @throws backend_unreachable while there is no link; machine_offline when it ends; timeout; what the backend threw */
  askBackend<M extends keyof BackendMethods>(
    method: M,
    params: BackendMethods[M]['params'],
  ): Promise<BackendMethods[M]['result']>;
}

export function createDaemon(options: DaemonOptions): Daemon {
  const { machine, version, runtime, log } = options;
  const instanceId = runtime.newUuid();
  const journal = createJournal(options.db, runtime);
  const registry = createAgentRegistry({
    table: options.agents.table,
    added: options.agents.added,
    env: options.agents.env,
    lastModels: journal.lastModels,
    offers: {
      get: journal.offer,
      set(agentId, offer) {
        try {
          journal.setOffer(agentId, offer);
        } catch (error) {
          log.warn({ agentId, error }, 'what an agent offers cannot be kept');
        }
      },
    },
  });
  const guardian = createGuardian();
  const ending = new AbortController();
  let stopping: Promise<void> | undefined;

  const sender = createEventSender({
    journal,
    log,
    onCaughtUp: (sessionId) => sessions.resume(sessionId),
  });
  journal.onAppend(sender.appended);
  const sessions = createSessions({
    journal,
    registry,
    guardian,
    runtime,
    log,
    version,
    limits: { ...SESSION_LIMITS, ...options.limits },
    sessionLogs: options.sessionLogs,
    mcpServers: options.agents.mcpServers ?? (() => []),
    onSessionEnded,
    transcriptTail,
    env: options.agents.env,
    inTurn: createOneByOne(),
    startTime: options.processTable.startTime,
    delta: (delta) => link.delta(delta),
    isAhead: sender.isAhead,
    isEnding: () => ending.signal.aborted,
  });

  function onSessionEnded(sessionId: string): void {
    try {
      options.agents.onSessionEnded?.(sessionId);
    } catch (error) {
      log.error({ sessionId, error }, 'what a session’s agent was given could not be taken back');
    }
  }

  /** What happened before this daemon's start may not have reached the backend yet, and the link may not be up. */
  async function transcriptTail(sessionId: string, maxChars: number) {
    try {
      await link.whenUp(TAIL_MS, ending.signal);
      await sender.flushed(sessionId, TAIL_MS);
      return await link.ask('transcript.tail', { sessionId, maxChars }, TAIL_MS);
    } catch (error) {
      log.warn({ sessionId, error }, 'the backend did not say what was in a conversation so far');
      return undefined;
    }
  }

  const managed = createManagedServers({ managed: options.managed, log, now: runtime.now });

  const handlers = createHandlers({
    managed,
    sessions,
    files: createFiles({ journal, log, files: options.files }),
    registry,
    flushed: (sessionId) => sender.flushed(sessionId, FLUSH_MS),
    isEnding: () => ending.signal.aborted,
  });

  const link = createMachineLink({
    link: options.link,
    limits: { ...LINK_LIMITS, ...options.link.limits },
    runtime,
    random: options.random,
    log,
    handlers,
    hello: () => ({
      protocol: LINK_PROTOCOL,
      machineId: machine.machineId,
      machineName: machine.name,
      platform: machine.platform,
      daemonVersion: version,
      instanceId,
      agents: registry.list(),
      sessions: journal.tails(),
    }),
    onNotice: managed.notice,
    onUp(peer, welcome) {
      sender.up(peer, welcome);
      managed.up(peer);
    },
    onDown() {
      sender.down();
      managed.down();
    },
    onFatal: options.onFatal,
  });

  async function stop(graceMs: number): Promise<void> {
    ending.abort();
    await Promise.all([sessions.shutdown(graceMs), closeManaged()]);
    await sender.flushedAll(graceMs);
    link.stop();
    guardian.close();
  }

  /** Whatever a server does at its end, the sessions still get theirs. */
  async function closeManaged(): Promise<void> {
    try {
      await managed.close();
    } catch (error) {
      log.error({ error }, 'managed MCP servers did not end');
    }
  }

  return {
    async start() {
      await Promise.all([sessions.recover(), managed.start()]);
      if (!ending.signal.aborted) link.start();
    },
    stop({ graceMs = 3000 } = {}) {
      stopping ??= stop(graceMs);
      return stopping;
    },
    askBackend: (method, params) => link.ask(method, params, ASK_MS),
    status: () => ({
      version,
      machineId: machine.machineId,
      instanceId,
      link: link.status(),
      sessions: sessions.status(),
      outbox: { events: journal.unsentCount() },
      managed: managed.status(),
    }),
  };
}
