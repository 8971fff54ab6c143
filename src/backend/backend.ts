import type { ActionEngine, EngineOptions } from '../core/engine.ts';
import { KaiwuError } from '../core/errors.ts';
import type { BackendServer } from '../core/ports/fleet.ts';
import type { Logger, Outbound } from '../core/ports/host.ts';
import type { Runtime } from '../core/ports/stores.ts';
import type { WebProvider } from '../core/ports/web.ts';
import { createBootstrap } from './auth/bootstrap.ts';
import { createDeviceFlow } from './auth/device-flow.ts';
import { createPasskeys } from './auth/passkeys.ts';
import { createSignIn } from './auth/sign-in.ts';
import { openStorage } from './blobs/open-storage.ts';
import { isLoopback } from '../core/loopback.ts';
import { bracketed, requireOwnAddress } from './http/address-guard.ts';
import { hostOf, isWildcard, plainRemote } from './http/bound-address.ts';
import { type AgentSessionBehind, createAgentGuard } from './http/agent-guard.ts';
import { createApp } from './http/app.ts';
import { createAuthAudit } from './http/auth-audit.ts';
import { createAuthenticate } from './http/authenticate.ts';
import type { StreamTimings } from './http/event-stream.ts';
import { createGate } from './http/gate.ts';
import { createHttpServer, type ServerTimings } from './http/http-server.ts';
import type { ToVoiceTools } from './http/voice-routes.ts';
import { createLinkServer } from './link/link-server.ts';
import type { LinkTimings } from './link/link-socket.ts';
import { createManaged, type ManagedOptions } from './managed/managed.ts';
import { createMemory } from './memory/memory.ts';
import { createAskMachine } from './ports/ask-machine.ts';
import { createBackendPorts } from './ports/create-ports.ts';
import { createCapabilityProviders } from './registry/capability-providers.ts';
import { createRevocations } from './revocations.ts';
import type { RandomBytes } from './secrets.ts';
import type { BackendStore } from './store/store.ts';
import { createWeb } from './web/web.ts';
import { createArchives } from './work/archives.ts';
import { createDeliveries } from './work/deliveries.ts';
import { resumeMachine } from './work/resume.ts';
import { createStarts, START_WAIT_MS } from './work/starts.ts';

export interface BackendOptions {
  /** Closed by `close`. */
  store: BackendStore;
  database: BackendServer['database'];
  /** Makes the engine; the actions are all that is missing. */
  createEngine(parts: Omit<EngineOptions, 'actions'>): ActionEngine;
  runtime: Runtime;
  randomBytes: RandomBytes;
  log: Logger;
  version: string;
  /** Stays the same over restarts of this backend. */
  serverId: string;
  /** New at each start of this process. */
  ownerId: string;
  /** Tells an agent's process from a person's, for connections from this machine. */
  agentSessionBehind?: AgentSessionBehind;
  /** Writes the one-time secret and the address for this machine's user alone. Without it there is no bootstrap. */
  publishBootstrap?(bootstrap: { secret: string; url: string }): Promise<void>;
  /** The catalog as tools of voice models; the voice surface has it. */
  toVoiceTools?: ToVoiceTools;
  /** Folder of the built app. Without it no page is served. */
  webFolder?: string;
  /** Where ciphertext of files is kept, the largest file, and all of them together, bytes. Without it no file can be sent. */
  files?: { folder: string; maxBytes: number; totalBytes: number };
  managed: ManagedOptions;
  /** Asks services of models and of search. */
  outbound: Outbound;
  /** A SearXNG that the environment sets up, and nobody changes. */
  searxng?: WebProvider;
  /** Address that others reach this server by, behind a proxy that speaks TLS: `https://kaiwu.example`. */
  publicUrl?: string;
  /** Further host names that it answers to, without port. */
  publicHosts?: string[];
  /** Origins of pages elsewhere that may call. */
  allowedOrigins?: string[];
  /** Binds an address that others reach, although tokens then cross the network in the clear: only behind TLS. */
  allowPlainRemote?: boolean;
  timings?: {
    link?: Partial<LinkTimings>;
    stream?: Partial<StreamTimings>;
    server?: Partial<ServerTimings>;
    /** Milliseconds that a start may take, the daemon's answer included. */
    startMs?: number;
  };
}

export interface Backend {
  /** Port 0 takes a free one. Answers the address on this machine. @throws conflict (port taken) | unsupported (a remote address over plain HTTP) */
  listen(address?: { host?: string; port?: number }): Promise<{ url: string; port: number }>;
  /** Refuses new calls, lets running ones end for `drainMs`, ends streams and links, closes the store. Idempotent. */
  close(options?: { drainMs?: number }): Promise<void>;
}

/** Daemons come back within a second or two; what was approved for their machines waits that long. */
const RESUME_AFTER_MS = 5000;

const STREAM_TIMINGS: StreamTimings = { heartbeatMs: 15_000, stallMs: 60_000 };
const SERVER_TIMINGS: ServerTimings = { headersMs: 15_000, requestMs: 30 * 60_000 };

/** The backend: engine, HTTP API and machine links over one store. */
export function createBackend(options: BackendOptions): Backend {
  const { store, runtime, randomBytes, log, version, serverId, publicUrl } = options;
  const startedAt = runtime.now().toISOString();
  let bound = { host: '127.0.0.1', url: '' };
  let closing: Promise<void> | undefined;
  let resumeTimer: ReturnType<typeof setTimeout> | undefined;
  const publicHost = publicUrl === undefined ? [] : [hostOf(publicUrl)];
  const resuming = new Set<Promise<void>>();

  const revocations = createRevocations();
  store.identity.onSessionTokenRevoked((tokenId) => revocations.announce({ tokenId }));
  const links = createLinkServer({
    store,
    runtime,
    randomBytes,
    log,
    version,
    revocations,
    timings: options.timings?.link,
    onServers: (machineId, servers) => managed.onServers(machineId, servers),
    onLinked(machineId) {
      managed.machineLinked(machineId);
      const resumed = resumeMachine(machineId, { store, links, starts, deliveries, archives, log })
        .then(() => runWork.machineLinked(machineId))
        .catch((error: unknown) => log.error({ machineId, error }, 'could not resume a machine'))
        .finally(() => resuming.delete(resumed));
      resuming.add(resumed);
    },
  });
  const capabilityProviders = createCapabilityProviders(store.settings, () => managed.judgeProviders());
  const managed = createManaged({
    managed: options.managed,
    store,
    providers: capabilityProviders,
    links,
    runtime,
    randomBytes,
    log,
  });
  const memory = createMemory({
    store,
    sealer: managed.sealer,
    outbound: options.outbound,
    ask: createAskMachine({ links, machines: store.machines }),
    runtime,
    log,
  });
  const web = createWeb({ ...options, sealer: managed.sealer });
  const starts = createStarts({
    sessions: store.sessions,
    links,
    waitMs: options.timings?.startMs ?? START_WAIT_MS,
  });
  const archives = createArchives({ sessions: store.sessions, links, starts });
  const deliveries = createDeliveries({ store, links, starts, log });
  const storage = openStorage(options);
  const { ports, runWork } = createBackendPorts({
    store,
    links,
    starts,
    deliveries,
    archives,
    revocations,
    runtime,
    randomBytes,
    uploads: storage?.uploads,
    managed,
    capabilityProviders,
    memory,
    web,
    log,
    serverInfo: () => ({
      serverId,
      url: publicUrl ?? bound.url,
      version,
      startedAt,
      database: options.database,
    }),
  });
  const engine = options.createEngine({
    ports,
    further: managed.further,
    capabilities: web.capabilities,
    approvalStore: store.approvals,
    grants: store.grants,
    idempotency: store.idempotency,
    runtime,
    ownerId: options.ownerId,
    onApprovalChange: (listener) =>
      store.feed.subscribe((entry) => {
        if (entry.type === 'approval.changed') listener(entry.artifactId);
      }),
    onError: (error, call) => log.error({ actionId: call.actionId, error }, 'action failed'),
  });

  const gate = createGate();
  const authenticate = createAuthenticate({ identity: store.identity, runtime, log });
  const audit = createAuthAudit({ audit: store.audit, runtime, log });
  const agents = createAgentGuard({ agentSessionBehind: options.agentSessionBehind, audit });
  const signIn = createSignIn({ identity: store.identity, runtime, randomBytes });
  const { publishBootstrap } = options;
  const bootstrap =
    publishBootstrap === undefined
      ? undefined
      : createBootstrap({
          signIn,
          runtime,
          randomBytes,
          log,
          publish: (secret) => publishBootstrap({ secret, url: bound.url }),
        });
  const address = () => ({
    boundHost: bound.host,
    publicHosts: [...publicHost, ...(options.publicHosts ?? [])],
    allowedOrigins: options.allowedOrigins ?? [],
  });
  const { app, closeStreams } = createApp({
    store,
    engine,
    runtime,
    log,
    version,
    serverId,
    authenticate,
    gate,
    revocations,
    bootstrap,
    agents,
    audit,
    storage,
    deviceFlow: createDeviceFlow({ codes: store.deviceCodes, signIn, runtime, randomBytes }),
    passkeys: createPasskeys({ store, signIn, runtime, randomBytes, serverId }),
    publicUrl,
    address,
    streamTimings: { ...STREAM_TIMINGS, ...options.timings?.stream },
    toVoiceTools: options.toVoiceTools,
    webFolder: options.webFolder,
  });
  const server = createHttpServer({
    app,
    links,
    timings: { ...SERVER_TIMINGS, ...options.timings?.server },
    log,
    onConnection: agents.note,
    async admitLink(incoming) {
      requireOwnAddress(incoming, address());
      gate.requireOpen();
      const bearer = await authenticate(incoming.headers.authorization);
      await agents.refuseAgents(incoming, { name: 'auth.link', bearer });
      if (bearer.kind === 'device') return bearer;
      throw new KaiwuError('forbidden', `A ${bearer.kind} token cannot link a machine.`, {
        hint: 'Sign the machine in with `kaiwu auth login`.',
      });
    },
  });

  async function shutDown(drainMs: number): Promise<void> {
    clearTimeout(resumeTimer);
    await gate.close(drainMs);
    await closeStreams();
    await links.close();
    await runWork.close();
    await deliveries.close();
    await Promise.all(resuming);
    await memory.close();
    await managed.close();
    await server.close();
    await store.close();
  }

  return {
    async listen({ host = '127.0.0.1', port = 0 } = {}) {
      if (!isLoopback(host) && options.allowPlainRemote !== true) throw plainRemote(host);
      await store.machines.disconnectAll();
      await storage?.blobs.open(async (fileId) => (await store.files.get(fileId)) !== undefined);
      await managed.open();
      await memory.open();
      await web.open();
      await engine.recover();
      await runWork.resume();
      bound = { host, url: '' };
      const { port: actual } = await server.listen(host, port);
      bound = { host, url: `http://${bracketed(isWildcard(host) ? '127.0.0.1' : host)}:${actual}` };
      resumeTimer = setTimeout(() => {
        engine.resume().catch((error: unknown) => log.error({ error }, 'could not resume approved requests'));
      }, RESUME_AFTER_MS).unref();
      await bootstrap?.rotate();
      log.info({ url: bound.url, version }, 'backend listens');
      return { url: bound.url, port: actual };
    },
    close({ drainMs = 10_000 } = {}) {
      closing ??= shutDown(drainMs);
      return closing;
    },
  };
}
