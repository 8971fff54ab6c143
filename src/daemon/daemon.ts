import { KaiwuError } from '../core/errors.ts';
import { type DaemonMethods, LINK_PROTOCOL } from '../core/link.ts';
import type { RpcHandlers } from '../core/rpc-peer.ts';
import { createGuardian } from './acp/guardian.ts';
import { createAgentRegistry } from './agents/registry.ts';
import { createJournal } from './journal/journal.ts';
import { createMachineLink, type LinkStatus } from './link/link.ts';
import { createEventSender } from './link/sender.ts';
import { type DaemonOptions, LINK_LIMITS, SESSION_LIMITS } from './options.ts';
import { checkMode, createSessions, type SessionInfo } from './session/sessions.ts';

/** How long an answer waits for the events that belong to it to reach the backend first. */
const FLUSH_MS = 10_000;

export interface DaemonStatus {
  version: string;
  machineId: string;
  /** New at each start. */
  instanceId: string;
  link: LinkStatus;
  sessions: SessionInfo[];
  outbox: { events: number };
}

/** Starts agents, owns their processes and brings what they do to the backend. */
export interface Daemon {
  /** Settles what an earlier daemon left, then links. */
  start(): Promise<void>;
  /** Cancels turns, ends agents, and gives the last events up to `graceMs` to reach the backend. Idempotent. */
  stop(options?: { graceMs?: number }): Promise<void>;
  status(): DaemonStatus;
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
  });
  const guardian = createGuardian();
  let ending = false;
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
    startTime: options.processTable.startTime,
    delta: (delta) => link.delta(delta),
    isAhead: sender.isAhead,
    isEnding: () => ending,
  });

  /** The backend reads the session's row right after the answer, so the events that change it go first. */
  const then = async <T>(sessionId: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } finally {
      await sender.flushed(sessionId, FLUSH_MS);
    }
  };

  const handlers: RpcHandlers<DaemonMethods> = {
    'session.start': (params) =>
      then(
        params.sessionId,
        sessions.start(params).then(() => ({})),
      ),
    'session.deliver': async (params) => {
      sessions.deliver(params);
      return {};
    },
    'session.interrupt': async ({ sessionId }) =>
      then(
        sessionId,
        sessions
          .get(sessionId)
          .interrupt()
          .then((interrupted) => ({ interrupted })),
      ),
    'session.stop': async ({ sessionId }) =>
      then(
        sessionId,
        sessions
          .get(sessionId)
          .stop()
          .then(() => ({})),
      ),
    'session.set_mode': async ({ sessionId, permissionMode }) => {
      checkMode(permissionMode);
      return then(
        sessionId,
        sessions
          .get(sessionId)
          .setMode(permissionMode)
          .then(() => ({})),
      );
    },
    'session.set_model': async ({ sessionId, modelId }) =>
      then(
        sessionId,
        sessions
          .get(sessionId)
          .setModel(modelId)
          .then(() => ({})),
      ),
    'session.answer': async ({ sessionId, requestId, optionId, by }) => {
      sessions.get(sessionId).answer(requestId, optionId, by);
      return then(sessionId, Promise.resolve({}));
    },
    'agents.list': async () => {
      void registry.learnVersions();
      return { agents: registry.list() };
    },
  };

  const link = createMachineLink({
    link: options.link,
    limits: { ...LINK_LIMITS, ...options.link.limits },
    runtime,
    random: options.random,
    log,
    handlers: untilEnding(handlers, () => ending),
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
    onUp: sender.up,
    onDown: sender.down,
    onFatal: options.onFatal,
  });

  async function stop(graceMs: number): Promise<void> {
    ending = true;
    await sessions.shutdown(graceMs);
    await sender.flushedAll(graceMs);
    link.stop();
    guardian.close();
  }

  return {
    async start() {
      await sessions.recover();
      if (!ending) link.start();
    },
    stop({ graceMs = 3000 } = {}) {
      stopping ??= stop(graceMs);
      return stopping;
    },
    status: () => ({
      version,
      machineId: machine.machineId,
      instanceId,
      link: link.status(),
      sessions: sessions.status(),
      outbox: { events: journal.unsentCount() },
    }),
  };
}

/** A daemon on its way out begins nothing more: what it is asked comes again after the next start. */
function untilEnding(
  handlers: RpcHandlers<DaemonMethods>,
  isEnding: () => boolean,
): RpcHandlers<DaemonMethods> {
  const guarded = Object.entries(handlers).map(([method, handler]) => [
    method,
    async (params: never) => {
      if (isEnding()) throw new KaiwuError('machine_offline', 'The daemon of this machine is about to end.');
      return handler(params);
    },
  ]);
  return Object.fromEntries(guarded) as RpcHandlers<DaemonMethods>;
}
