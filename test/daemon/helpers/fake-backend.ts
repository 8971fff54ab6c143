import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { appendSchema, helloSchema } from '../../../src/backend/link/frames.ts';
import { parseFrame } from '../../../src/backend/link/parse-frame.ts';
import { KaiwuError } from '../../../src/core/errors.ts';
import {
  type BackendMethods,
  type DaemonMethod,
  type DaemonMethods,
  type DaemonNotices,
  LINK_MAX_FRAME,
  LINK_PATH,
  LINK_PROTOCOL,
  type LinkHello,
  type MachineServer,
} from '../../../src/core/link.ts';
import { createRpcPeer, type RpcPeer } from '../../../src/core/rpc-peer.ts';
import type { SessionEvent } from '../../../src/core/session.ts';

export const TOKEN = 'device-token';

/** A peer that speaks the machine link over real sockets and keeps events as the real backend does. */
export interface FakeBackend {
  readonly url: string;
  readonly port: number;
  readonly hellos: LinkHello[];
  readonly deltas: DaemonNotices['delta'][];
  /** Upgrades that were asked for, answered or not. */
  readonly attempts: number;
  /** Bearer tokens that were shown. */
  readonly tokens: string[];
  /** What was told of managed servers, each time. */
  readonly reports: MachineServer[][];
  /** How often it was asked what was in a conversation. */
  readonly tails: number;
  events(sessionId: string): SessionEvent[];
  request<K extends DaemonMethod>(
    method: K,
    params: DaemonMethods[K]['params'],
  ): Promise<DaemonMethods[K]['result']>;
  /** Tells the daemon without waiting. */
  notify(method: string, params: unknown): void;
  /** Resolves once `check` answers something, looking whenever anything arrives. */
  until<T>(check: () => T | undefined | false, what?: string): Promise<T>;
  /** Waits for an event of a session. */
  event<T extends SessionEvent['type']>(
    sessionId: string,
    type: T,
    check?: (event: Extract<SessionEvent, { type: T }>) => boolean,
  ): Promise<Extract<SessionEvent, { type: T }>>;
  linked(): Promise<void>;
  /** Cuts the connection without a word. */
  drop(): void;
  /** Closes the connection with a code. */
  closeLink(code: number, reason: string): void;
  behaviour: {
    /** HTTP status that refuses the upgrade. */
    refuseWith?: number;
    /** Close code in place of a welcome. */
    closeWith?: [code: number, reason: string];
    /** Drops the link after storing this many appends, before answering the last of them. */
    dropAfterAppends?: number;
    /** Stops reading what arrives, as a half-open connection does. */
    deaf?: boolean;
    /** Answers appends only when told. */
    holdAppends?: Promise<void>;
    /** Events that are refused for good. */
    refuses?(event: SessionEvent): boolean;
    /** Fails appends. */
    failAppends?: number;
    /** Does not say what was in a conversation. */
    failTails?: boolean;
    /** Says it only when told. */
    holdTails?: Promise<void>;
  };
  stop(): Promise<void>;
}

export async function createFakeBackend(
  options: { port?: number; from?: FakeBackend } = {},
): Promise<FakeBackend> {
  const stored = new Map<string, SessionEvent[]>();
  for (const sessionId of options.from === undefined ? [] : sessionsOf(options.from)) {
    stored.set(sessionId, options.from!.events(sessionId));
  }
  const hellos: LinkHello[] = [];
  const deltas: DaemonNotices['delta'][] = [];
  const tokens: string[] = [];
  const reports: MachineServer[][] = [];
  const waiting = new Set<() => void>();
  const behaviour: FakeBackend['behaviour'] = {};
  let attempts = 0;
  let tails = 0;
  let socket: WebSocket | undefined;
  let peer: RpcPeer<DaemonMethods> | undefined;
  const changed = () => {
    for (const look of Array.from(waiting)) look();
  };

  const server: Server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LINK_MAX_FRAME });
  server.on('upgrade', (request, raw, head) => {
    attempts += 1;
    tokens.push(request.headers.authorization ?? '');
    const bad =
      request.url !== LINK_PATH ? 404 : request.headers.authorization !== `Bearer ${TOKEN}` ? 401 : undefined;
    const status = behaviour.refuseWith ?? bad;
    if (status !== undefined) {
      raw.end(`HTTP/1.1 ${status} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      return changed();
    }
    sockets.handleUpgrade(request, raw, head, accept);
  });

  function accept(ws: WebSocket): void {
    if (behaviour.closeWith !== undefined) {
      ws.close(...behaviour.closeWith);
      return changed();
    }
    socket = ws;
    const mine = createRpcPeer<BackendMethods, DaemonMethods>({
      send: (text) => ws.send(text),
      handlers: {
        hello: async (hello) => {
          parseFrame(helloSchema, hello, 'hello');
          hellos.push(hello);
          peer = mine;
          setImmediate(changed);
          return {
            protocol: LINK_PROTOCOL,
            backendVersion: 'fake',
            sessions: [...stored].map(([sessionId, events]) => ({ sessionId, ackedSeq: events.length })),
          };
        },
        'events.append': async ({ sessionId, events }) => {
          if ((behaviour.failAppends ?? 0) > 0) {
            behaviour.failAppends! -= 1;
            throw new Error('the store is not there');
          }
          parseFrame(appendSchema, { sessionId, events }, 'events.append');
          if (events.some((event) => behaviour.refuses?.(event) === true)) {
            throw new KaiwuError('invalid_input', 'an event is not valid');
          }
          const list = stored.get(sessionId) ?? [];
          stored.set(sessionId, list);
          for (const event of events) if (event.seq === list.length + 1) list.push(event);
          changed();
          await behaviour.holdAppends;
          if (behaviour.dropAfterAppends !== undefined && --behaviour.dropAfterAppends <= 0) {
            behaviour.dropAfterAppends = undefined;
            ws.terminate();
          }
          return { ackedSeq: list.length };
        },
        'mcp.states': async ({ servers }) => {
          reports.push(servers);
          setImmediate(changed);
          return {};
        },
        'session.token': async ({ sessionId }) => ({ token: `token of ${sessionId}` }),
        'transcript.tail': async ({ sessionId, maxChars }) => {
          tails += 1;
          if (behaviour.failTails === true) throw new Error('the store is not there');
          await behaviour.holdTails;
          const lines = (stored.get(sessionId) ?? []).flatMap((event) =>
            event.type === 'user_message' || event.type === 'agent_text'
              ? [
                  {
                    role: event.type === 'user_message' ? ('user' as const) : ('agent' as const),
                    text: event.text,
                  },
                ]
              : [],
          );
          return { lines, complete: maxChars > 0 };
        },
      },
      onNotice: (method, params) => {
        if (method === 'delta') deltas.push(params as DaemonNotices['delta']);
        changed();
      },
    });
    ws.on('message', (data) => mine.receive((data as Buffer).toString('utf8')));
    ws.on('close', () => {
      mine.close();
      if (peer === mine) peer = undefined;
      changed();
    });
    ws.on('error', () => {});
    if (behaviour.deaf === true) ws.pause();
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  function until<T>(check: () => T | undefined | false, what = 'something'): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = check();
        if (found === undefined || found === false) return;
        waiting.delete(look);
        clearTimeout(timer);
        resolve(found);
      };
      const timer = setTimeout(() => {
        waiting.delete(look);
        const seen = [...stored].map(
          ([id, events]) => `${id}: ${events.map((e) => JSON.stringify(e)).join('\n  ')}`,
        );
        reject(new Error(`waited in vain for ${what}; events so far:\n${seen.join('\n').slice(-4000)}`));
      }, 40_000);
      waiting.add(look);
      look();
    });
  }

  const backend: FakeBackend = {
    url: `http://127.0.0.1:${port}`,
    port,
    hellos,
    deltas,
    tokens,
    reports,
    get tails() {
      return tails;
    },
    behaviour,
    get attempts() {
      return attempts;
    },
    events: (sessionId) => [...(stored.get(sessionId) ?? [])],
    request(method, params) {
      if (peer === undefined) return Promise.reject(new Error('no daemon is linked'));
      return peer.request(method, params, 40_000);
    },
    notify: (method, params) => peer?.notify(method, params),
    until,
    event: (sessionId, type, check = () => true) =>
      until(
        () =>
          (stored.get(sessionId) ?? []).find(
            (event) => event.type === type && check(event as never),
          ) as never,
        `${type} of ${sessionId}`,
      ),
    async linked() {
      await until(() => peer !== undefined, 'a link');
    },
    drop: () => socket?.terminate(),
    closeLink: (code, reason) => socket?.close(code, reason),
    stop: () =>
      new Promise((resolve) => {
        for (const client of sockets.clients) client.terminate();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  known.set(backend, stored);
  return backend;
}

const known = new WeakMap<FakeBackend, Map<string, SessionEvent[]>>();
const sessionsOf = (backend: FakeBackend): string[] => [...(known.get(backend)?.keys() ?? [])];
