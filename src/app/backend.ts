import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { createBackend } from '../backend/backend.ts';
import { createSqliteStore } from '../backend/store/sqlite/create-sqlite-store.ts';
import { createEngine } from '../core/create-engine.ts';
import { KaiwuError } from '../core/errors.ts';
import type { Logger } from '../core/ports/host.ts';
import { acquireProcessLock } from '../local/file-lock.ts';
import { ensurePrivateFolder } from '../local/private-folder.ts';
import type { BackendState } from '../local/process-state.ts';
import { agentSessionBehind } from '../local/provenance.ts';
import { openSqlite } from '../local/sqlite.ts';
import { readStateFile, removeStateFile, writeStateFile } from '../local/state-file.ts';
import { toVoiceTools } from '../surfaces/voice/tools.ts';
import type { App } from './app.ts';
import { fileLimitOf, filesTotalOf } from './file-limit.ts';
import { managedOf } from './managed.ts';
import { createOutbound } from './outbound.ts';
import { searxngOf } from './searxng.ts';
import { registry } from './registry.generated.ts';

export interface RunBackendOptions {
  app: App;
  log: Logger;
  /** Default 127.0.0.1. */
  host?: string;
  /** Without it the port of the last run is taken again if it is free, else any free one. */
  port?: number;
  /** Address that others reach it by, behind a proxy that speaks TLS. */
  publicUrl?: string;
  /** Bind a remote address although HTTP here is plain. */
  allowPlainRemote?: boolean;
}

export interface RunningBackend {
  url: string;
  port: number;
  /** Idempotent. Running calls get up to 10 s. */
  stop(): Promise<void>;
}

const identitySchema = z.looseObject({ serverId: z.string(), port: z.int().optional() });

/**
 * Runs the embedded backend over this home's database, once a home.
 * @throws conflict naming the process that runs it already | state_damaged
 */
export async function runBackend(options: RunBackendOptions): Promise<RunningBackend> {
  const { app, log } = options;
  const paths = app.paths.backend;
  await ensurePrivateFolder(paths.folder);
  const lock = await acquireProcessLock(paths.lock);
  try {
    return await open(options, () => lock.release());
  } catch (error) {
    lock.release();
    log.error({ error }, 'backend cannot start');
    throw error;
  }
}

async function open(options: RunBackendOptions, release: () => void): Promise<RunningBackend> {
  const { app, log, host, publicUrl, allowPlainRemote } = options;
  const { runtime, version } = app;
  const paths = app.paths.backend;
  const identity = (await readStateFile(paths.identity, identitySchema)) ?? { serverId: runtime.newUuid() };
  const store = await createSqliteStore(openSqlite(paths.database), runtime);
  const backend = createBackend({
    store,
    database: 'sqlite',
    createEngine: (parts) => createEngine({ ...parts, actions: registry }),
    toVoiceTools,
    // Beside the bundles of dist/.
    webFolder: fileURLToPath(new URL('./web/', import.meta.url)),
    managed: managedOf(app, log),
    outbound: createOutbound(app.env, version),
    searxng: searxngOf(app.env),
    files: { folder: paths.blobs, maxBytes: fileLimitOf(app.env), totalBytes: filesTotalOf(app.env) },
    runtime,
    randomBytes: (count) => randomBytes(count),
    agentSessionBehind,
    log,
    version,
    serverId: identity.serverId,
    ownerId: runtime.newUuid(),
    publishBootstrap: (bootstrap) => writeStateFile(paths.bootstrap, bootstrap),
    publicUrl,
    allowPlainRemote,
  });
  const stop = async () => {
    await backend.close();
    await removeStateFile(paths.state);
    release();
  };
  try {
    const { url, port } = await listen(backend, { host, port: options.port, lastPort: identity.port });
    await writeStateFile(paths.identity, { ...identity, port });
    const startTime = app.processes.startTime(process.pid) ?? '';
    await writeStateFile(paths.state, { pid: process.pid, startTime, version, url } satisfies BackendState);
    return { url, port, stop };
  } catch (error) {
    await backend.close();
    throw error;
  }
}

/** Hosts keep the address in their configuration, so the one of the last run is worth another try. */
async function listen(
  backend: ReturnType<typeof createBackend>,
  { host, port, lastPort }: { host?: string; port?: number; lastPort?: number },
) {
  if (port !== undefined || lastPort === undefined) return backend.listen({ host, port });
  try {
    return await backend.listen({ host, port: lastPort });
  } catch (error) {
    if (!(error instanceof KaiwuError) || error.code !== 'conflict') throw error;
    return backend.listen({ host });
  }
}
