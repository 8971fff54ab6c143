import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registry } from '../../../src/app/registry.generated.ts';
import { type Backend, type BackendOptions, createBackend } from '../../../src/backend/backend.ts';
import { createSqliteStore } from '../../../src/backend/store/sqlite/create-sqlite-store.ts';
import type { BackendStore } from '../../../src/backend/store/store.ts';
import { createOutbound } from '../../../src/app/outbound.ts';
import type { CallContext, Envelope } from '../../../src/core/call.ts';
import { createEngine } from '../../../src/core/create-engine.ts';
import type { Logger } from '../../../src/core/ports/host.ts';
import type { Runtime } from '../../../src/core/ports/stores.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { createFakeDaemon, type FakeDaemon, type FakeDaemonOptions } from './fake-daemon.ts';
import type { Json } from './json.ts';
import { managedIn } from './managed.ts';

/** A real clock that can be set forward. */
export interface TestRuntime extends Runtime {
  advance(milliseconds: number): void;
}

function createTestRuntime(): TestRuntime {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead),
    monotonicMs: () => performance.now() + ahead,
    bootMs: () => performance.now() + ahead,
    newId: (prefix) => `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 16)}`,
    newUuid: randomUUID,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
  };
}

export interface World {
  url: string;
  port: number;
  backend: Backend;
  store: BackendStore;
  runtime: TestRuntime;
  /** Folder of all that it keeps. */
  home: string;
  /** Where its database file is. */
  databasePath: string;
  /** One-time secrets in the order in which they were handed out. */
  secrets: string[];
  /** All that was logged, as text. */
  logs: string[];
  /** Signs a device in and answers its token. */
  signIn(name?: string): Promise<{ token: string; deviceId: string; tokenId: string }>;
  /** A token of Json kind, straight into the store. */
  makeToken(more?: Partial<Parameters<BackendStore['identity']['insertToken']>[0]>): Promise<string>;
  get(path: string, options?: { token?: string; headers?: Record<string, string> }): Promise<Response>;
  post(
    path: string,
    body: unknown,
    options?: { token?: string; headers?: Record<string, string> },
  ): Promise<Response>;
  /** Runs an action and answers its envelope. */
  call(
    token: string,
    actionId: string,
    input?: unknown,
    context?: Partial<CallContext>,
    options?: { signal?: AbortSignal; idempotencyKey?: string },
  ): Promise<Envelope>;
  /** The output of an action that must succeed. */
  ok(
    token: string,
    actionId: string,
    input?: unknown,
    context?: Partial<CallContext>,
  ): Promise<Record<string, Json>>;
  daemon(token: string, options?: Partial<FakeDaemonOptions>): Promise<FakeDaemon>;
  /** Closes the backend and starts another one on the same files. */
  restart(more?: Partial<BackendOptions>): Promise<void>;
  end(): Promise<void>;
}

export async function openWorld(
  more: Partial<BackendOptions> = {},
  ...addresses: NonNullable<Parameters<Backend['listen']>[0]>[]
): Promise<World> {
  const home = await mkdtemp(join(tmpdir(), 'kaiwu-backend-'));
  const databasePath = join(home, 'kaiwu.db');
  const runtime = createTestRuntime();
  const secrets: string[] = [];
  const logs: string[] = [];
  const daemons: FakeDaemon[] = [];

  async function start(options: Partial<BackendOptions>) {
    const store = await createSqliteStore(openSqlite(databasePath), runtime);
    const backend = createBackend({
      store,
      database: 'sqlite',
      createEngine: (parts) => createEngine({ ...parts, actions: registry }),
      runtime,
      randomBytes,
      log: toLogger(logs),
      managed: managedIn(home, toLogger(logs)),
      outbound: createOutbound({}, '1.2.3'),
      version: '1.2.3',
      serverId: 'server-under-test',
      ownerId: randomUUID(),
      publishBootstrap: async ({ secret }) => {
        secrets.push(secret);
      },
      ...options,
    });
    try {
      return { store, backend, ...(await listen(backend)) };
    } catch (error) {
      await backend.close();
      throw error;
    }
  }

  /** Tries one address after the other. */
  async function listen(backend: Backend) {
    const [last, ...others] = addresses.toReversed();
    for (const address of others.toReversed()) {
      const listening = await backend.listen(address).catch(() => undefined);
      if (listening !== undefined) return listening;
    }
    return backend.listen(last);
  }

  const request = (path: string, init: RequestInit, token?: string, headers?: Record<string, string>) =>
    fetch(world.url + path, {
      ...init,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    });

  const world: World = {
    ...(await start(more)),
    runtime,
    home,
    databasePath,
    secrets,
    logs,
    async signIn(name = 'test device') {
      const answer = await world.post('/v1/auth/bootstrap', { secret: secrets.at(-1), deviceName: name });
      if (answer.status !== 200) throw new Error(`sign-in: ${await answer.text()}`);
      return (await answer.json()) as Awaited<ReturnType<World['signIn']>>;
    },
    async makeToken(fields = {}) {
      const token = `kw_${randomBytes(32).toString('base64url')}`;
      await world.store.identity.insertToken({
        tokenId: runtime.newId('tok'),
        hash: runtime.sha256(token),
        kind: 'api',
        name: 'made by a test',
        scope: {},
        ...fields,
      });
      return token;
    },
    get: (path, { token, headers } = {}) => request(path, {}, token, headers),
    post: (path, body, { token, headers } = {}) =>
      request(
        path,
        { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
        token,
        headers,
      ),
    async call(token, actionId, input, context, { signal, idempotencyKey } = {}) {
      const answer = await request(
        `/v1/actions/${actionId}`,
        { method: 'POST', body: JSON.stringify({ input, context: { surface: 'cli', ...context } }), signal },
        token,
        idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
      );
      return (await answer.json()) as Envelope;
    },
    async ok(token, actionId, input, context) {
      const envelope = await world.call(token, actionId, input, context);
      if (envelope.status !== 'ok') throw new Error(`${actionId}: ${JSON.stringify(envelope)}`);
      return envelope.output;
    },
    async daemon(token, options = {}) {
      const daemon = createFakeDaemon({ url: world.url, token, ...options });
      daemons.push(daemon);
      await daemon.connect();
      return daemon;
    },
    async restart(options = {}) {
      await world.backend.close({ drainMs: 100 });
      Object.assign(world, await start({ ...more, ...options }));
    },
    async end() {
      for (const daemon of daemons) daemon.end();
      await world.backend.close({ drainMs: 100 });
      await rm(home, { recursive: true, force: true });
    },
  };
  return world;
}

function toLogger(lines: string[]): Logger {
  const write =
    (level: string) =>
    (fields: Record<string, unknown>, message: string): void => {
      const text = JSON.stringify(fields, (_key, value: unknown) =>
        value instanceof Error ? `${value.stack} ${String(value.cause)}` : value,
      );
      lines.push(`${level} ${message} ${text}`);
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** The error of an envelope that must have failed. */
export function errorOf(envelope: Envelope) {
  if (envelope.status !== 'error') throw new Error(`expected an error: ${JSON.stringify(envelope)}`);
  return envelope.error;
}
