import { Hono } from 'hono';
import { cors } from 'hono/cors';
import type { ActionEngine } from '../../core/engine.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { Bootstrap } from '../auth/bootstrap.ts';
import type { DeviceFlow } from '../auth/device-flow.ts';
import type { Passkeys } from '../auth/passkeys.ts';
import type { Revocations } from '../revocations.ts';
import type { BackendStore } from '../store/store.ts';
import { type AddressPolicy, requireOwnAddress } from './address-guard.ts';
import type { AgentGuard } from './agent-guard.ts';
import { SECURITY_HEADERS, sendEnvelope, toErrorEnvelope } from './answer.ts';
import type { AuthAudit } from './auth-audit.ts';
import { addAppLinkRoutes } from './app-link-routes.ts';
import { addAuthRoutes } from './auth-routes.ts';
import type { Authenticate } from './authenticate.ts';
import { addCallRoutes } from './call-routes.ts';
import type { StreamTimings } from './event-stream.ts';
import { addEventsRoute } from './events-route.ts';
import { addFileRoutes, type FileStorage } from './file-routes.ts';
import type { Gate } from './gate.ts';
import type { HttpEnv } from './http-env.ts';
import { toOpenApi } from './openapi.ts';
import { addPasskeyRoutes } from './passkey-routes.ts';
import { addRpcRoute } from './rpc-route.ts';
import { addVoiceRoutes, type ToVoiceTools } from './voice-routes.ts';
import { addWebRoutes } from './web-files.ts';

export interface AppOptions {
  store: BackendStore;
  engine: ActionEngine;
  runtime: Runtime;
  log: Logger;
  version: string;
  serverId: string;
  agents: AgentGuard;
  audit: AuthAudit;
  authenticate: Authenticate;
  gate: Gate;
  revocations: Revocations;
  bootstrap: Bootstrap | undefined;
  deviceFlow: DeviceFlow;
  passkeys: Passkeys;
  publicUrl: string | undefined;
  /** Asked at each request: the bound host is known once it listens. */
  address(): AddressPolicy;
  streamTimings: StreamTimings;
  /** Without it this backend has no voice surface to offer tools for. */
  toVoiceTools: ToVoiceTools | undefined;
  /** Undefined where this backend keeps no files. */
  storage: FileStorage | undefined;
  /** Folder of the built app; without it this backend serves no pages. */
  webFolder: string | undefined;
}

/** The HTTP API. */
export function createApp(options: AppOptions): {
  app: Hono<HttpEnv>;
  closeStreams(): Promise<void>;
} {
  const { store, engine, runtime, log, gate, version } = options;
  const app = new Hono<HttpEnv>();

  app.use(async (c, next) => {
    const startedMs = runtime.monotonicMs();
    const requestId = runtime.newId('call');
    c.set('requestId', requestId);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.header(name, value);
    c.header('x-request-id', requestId);
    await next();
    const { method, path } = c.req;
    const ms = Math.round(runtime.monotonicMs() - startedMs);
    log.debug({ requestId, method, path: toReadable(path), status: c.res.status, ms }, 'request');
  });
  app.use(async (c, next) => {
    requireOwnAddress(c.env.incoming, options.address());
    await next();
  });
  app.use(
    cors({
      origin: (origin) => (options.address().allowedOrigins.includes(origin) ? origin : null),
      exposeHeaders: ['etag', 'retry-after', 'x-request-id'],
    }),
  );

  app.onError((error, c) => {
    if (!(error instanceof KaiwuError)) log.error({ requestId: c.get('requestId'), error }, 'request failed');
    return sendEnvelope(c, toErrorEnvelope(error));
  });
  app.notFound((c) => {
    const path = c.req.path.slice(0, 200);
    const error = new KaiwuError('not_found', `There is no ${c.req.method} ${path} here.`, {
      hint: 'GET /v1/openapi.json lists what there is.',
      details: { method: c.req.method, path },
    });
    return sendEnvelope(c, toErrorEnvelope(error));
  });

  app.get('/healthz', (c) => c.json({ status: 'ok', version }));
  app.get('/readyz', async (c) => {
    gate.requireOpen();
    await store.feed.bounds();
    return c.json({ status: 'ready', version });
  });
  let document: { revision: string; json: string } | undefined;
  app.get('/v1/openapi.json', (c) => {
    if (document?.revision !== engine.revision) {
      // Nobody has to sign in for it: what an account has of managed servers is its own business.
      const own = engine.manifests.filter(({ managed }) => managed === undefined);
      document = { revision: engine.revision, json: JSON.stringify(toOpenApi(own, version)) };
    }
    return c.body(document.json, 200, { 'content-type': 'application/json' });
  });
  addCallRoutes(app, { ...options, policies: store.policies });
  addRpcRoute(app, options);
  const { toVoiceTools } = options;
  if (toVoiceTools !== undefined) addVoiceRoutes(app, { ...options, policies: store.policies, toVoiceTools });
  addAuthRoutes(app, { ...options, identity: store.identity });
  addAppLinkRoutes(app, options);
  addPasskeyRoutes(app, options);
  addFileRoutes(app, options);
  if (options.webFolder !== undefined) addWebRoutes(app, options.webFolder);
  const { closeStreams } = addEventsRoute(app, {
    ...options,
    feed: store.feed,
    sessions: store.sessions,
    timings: options.streamTimings,
  });
  return { app, closeStreams };
}

/** A path for the log, decoded: the redaction there knows credentials by their looks. */
function toReadable(path: string): string {
  try {
    return decodeURIComponent(path).slice(0, 200);
  } catch {
    return path.slice(0, 200);
  }
}
