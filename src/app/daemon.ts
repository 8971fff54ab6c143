import { randomBytes } from 'node:crypto';
import { arch, hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTlsAgent } from '../client/tls-agent.ts';
import type { Logger } from '../core/ports/host.ts';
import { createControlServer } from '../daemon/control/control-server.ts';
import { createDaemon, type Daemon } from '../daemon/daemon.ts';
import { createManagedRuntime } from '../managed/runtime.ts';
import { ensureMachineId } from '../local/config.ts';
import { acquireProcessLock } from '../local/file-lock.ts';
import { createMcpServersFile } from '../local/mcp-servers-file.ts';
import { ensurePrivateFolder } from '../local/private-folder.ts';
import type { DaemonState } from '../local/process-state.ts';
import { openSqlite } from '../local/sqlite.ts';
import { removeStateFile, writeStateFile } from '../local/state-file.ts';
import { builtInAgents, createAddedAgents } from './added-agents.ts';
import type { App } from './app.ts';
import {
  httpOptionsOf,
  identityOf,
  openFiles,
  optional,
  requireCredentials,
  type Target,
} from './connection.ts';
import { fileLimitOf } from './file-limit.ts';
import { managedNetworkOf } from './managed-network.ts';
import { proxyOf } from './proxy-settings.ts';
import { createSessionTools } from './session-tools.ts';

export interface RunDaemonOptions {
  app: App;
  /** Backend that the daemon serves. */
  target: Target;
  log: Logger;
  /** Path or text of managed MCP servers, in place of the file beside the profile's configuration. */
  mcpServers?: string;
}

export interface RunningDaemon {
  /** Of the control port. */
  port: number;
  /** Settles when the daemon cannot go on: another one serves this machine. */
  failed: Promise<Error>;
  /** Idempotent. */
  stop(): Promise<void>;
}

/** Longest wait, milliseconds, for the first link: who hears that the daemon is ready may call at once. */
const FIRST_LINK_MS = 3000;

/** Running turns get this long, milliseconds, to end by themselves. */
const STOP_GRACE_MS = 2000;

/**
 * Runs the daemon of a profile in this process, once a profile and home.
 * @throws conflict naming the process that runs it already | state_damaged
 */
export async function runDaemon(options: RunDaemonOptions): Promise<RunningDaemon> {
  const { paths } = options.target;
  await ensurePrivateFolder(paths.folder);
  const lock = await acquireProcessLock(paths.daemonLock);
  try {
    return await open(options, () => lock.release());
  } catch (error) {
    lock.release();
    options.log.error({ error }, 'daemon cannot start');
    throw error;
  }
}

async function open(
  { app, target, log, mcpServers }: RunDaemonOptions,
  release: () => void,
): Promise<RunningDaemon> {
  const { runtime, version, env } = app;
  const maxBytes = fileLimitOf(env);
  const machineId = await ensureMachineId(app.paths, () => runtime.newId('mach'));
  const { ca } = await httpOptionsOf(app, target);
  const agent = target.url.startsWith('https:') ? createTlsAgent(target.url, proxyOf(env)) : undefined;
  const db = openSqlite(target.paths.daemonDatabase);
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  const tools = createSessionTools({
    app,
    target,
    machineId,
    askToken: async (sessionId) => (await daemon.askBackend('session.token', { sessionId })).token,
    log,
  });
  const daemon = createDaemon({
    db,
    link: { url: target.url, token: async () => (await requireCredentials(app, target)).token, agent, ca },
    machine: { machineId, name: hostname() || machineId, platform: `${process.platform}-${arch()}` },
    version,
    runtime,
    random: Math.random,
    log,
    processTable: app.processes,
    agents: {
      table: builtInAgents(app, join(target.paths.folder, 'demo-agent')),
      added: createAddedAgents(app, log),
      env,
      mcpServers: tools.serversOf,
      onSessionEnded: tools.end,
    },
    managed: {
      createRuntime: (onChange) =>
        createManagedRuntime({
          now: runtime.now,
          random: Math.random,
          env,
          network: managedNetworkOf(env),
          log,
          version,
          onChange,
        }),
      own: createMcpServersFile({ folder: target.paths.folder, log, ...optional('given', mcpServers) }),
    },
    files: {
      maxBytes,
      ownRecipient: () => identityOf(app, target).recipient(),
      upload: async (...upload) => (await openFiles(app, target)).upload(...upload),
      commit: async (...commit) => (await openFiles(app, target)).commit(...commit),
    },
    sessionLogs: join(app.paths.logs, 'sessions'),
    onFatal: fail,
  });
  const token = randomBytes(32).toString('base64url');
  const control = await createControlServer({
    token,
    daemon,
    pid: process.pid,
    log,
    // There is one way to end, the signal's.
    onStop: () => process.kill(process.pid, 'SIGTERM'),
  });
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    // First of all, so that nobody takes a daemon for running that is on its way out.
    await removeStateFile(target.paths.daemonState);
    await daemon.stop({ graceMs: STOP_GRACE_MS });
    await tools.close();
    await control.close();
    db.close();
    release();
  };
  const running = {
    port: control.port,
    failed,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
  try {
    await daemon.start();
    await untilFirstLink(daemon);
    const startTime = app.processes.startTime(process.pid) ?? '';
    await writeStateFile(target.paths.daemonState, {
      pid: process.pid,
      startTime,
      port: control.port,
      token,
      version,
      machineId,
      url: target.url,
    } satisfies DaemonState);
    return running;
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/** Until the first try to link has ended, well or not: a backend that is away holds nothing up. */
async function untilFirstLink(daemon: Daemon): Promise<void> {
  const until = performance.now() + FIRST_LINK_MS;
  while (daemon.status().link.state === 'connecting' && performance.now() < until) await sleep(10);
}
