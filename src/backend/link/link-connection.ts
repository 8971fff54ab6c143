import type { WebSocket } from 'ws';
import type { Identity } from '../../core/engine.ts';
import { KaiwuError } from '../../core/errors.ts';
import { type BackendMethods, type DaemonMethods, LINK_PROTOCOL, type LinkWelcome } from '../../core/link.ts';
import { createRpcPeer } from '../../core/rpc-peer.ts';
import { machineServersSchema } from '../managed/frames.ts';
import { appendSchema, deltaSchema, helloSchema } from './frames.ts';
import { createSessionRequests } from './session-requests.ts';
import type { Link, LinkRegistry } from './link-registry.ts';
import type { LinkServerOptions } from './link-server.ts';
import { createLinkSocket, type LinkTimings } from './link-socket.ts';
import { parseFrame } from './parse-frame.ts';

/** Close codes, beside those of the protocol: 1009 too large, 1012 restart. */
const CLOSE = { badHello: 4400, revoked: 4401, noHello: 4408 } as const;

export interface LinkConnection {
  close(code: number, reason: string): void;
  /** Resolves once the socket is gone and the store knows. */
  closed: Promise<void>;
}

/** Serves one daemon from its `hello` to its end. */
export function acceptLink(
  ws: WebSocket,
  bearer: Identity,
  options: LinkServerOptions & { timings: LinkTimings; registry: LinkRegistry },
): LinkConnection {
  const { store, log, timings, registry } = options;
  let link: Link | undefined;
  let welcomed = false;
  let handled: Promise<unknown> = Promise.resolve();
  let settleClosed: () => void = () => {};
  const closed = new Promise<void>((resolve) => (settleClosed = resolve));
  const owned = new Set<string>();

  const socket = createLinkSocket(ws, {
    timings,
    log,
    monotonicMs: options.runtime.monotonicMs,
    // A frame is handled to its end before the next: an answer that follows events finds them stored.
    async onFrame(text) {
      handled = Promise.resolve();
      peer.receive(text);
      await handled.catch(() => {});
    },
    onClose(code) {
      clearTimeout(helloTimer);
      forgetBearer();
      peer.close();
      log.info({ machineId: link?.machineId, code }, 'link closed');
      const gone = link === undefined ? Promise.resolve() : registry.remove(link);
      void gone.finally(settleClosed);
    },
  });
  const helloTimer = setTimeout(
    () => socket.close(CLOSE.noHello, `no hello within ${timings.helloMs / 1000} s`),
    timings.helloMs,
  );
  const forgetBearer = options.revocations.onRevoked(bearer, () =>
    socket.close(CLOSE.revoked, 'device revoked'),
  );

  async function hello(params: unknown): Promise<LinkWelcome> {
    if (link !== undefined) throw new KaiwuError('conflict', 'this link has already said hello.');
    clearTimeout(helloTimer);
    try {
      const said = parseFrame(helloSchema, params, 'hello');
      if (said.protocol !== LINK_PROTOCOL) throw protocolMismatch(said.protocol);
      const { machineId, instanceId } = said;
      link = { machineId, instanceId, socket, peer, ready: false };
      await registry.claim(link, said);
      const sessions = await ackedSeqs(
        machineId,
        said.sessions.map((session) => session.sessionId),
      );
      welcomed = true;
      setImmediate(open, link);
      log.info({ machineId, daemonVersion: said.daemonVersion }, 'machine linked');
      return { protocol: LINK_PROTOCOL, backendVersion: options.version, sessions };
    } catch (error) {
      const reason = error instanceof KaiwuError ? error.message : 'hello failed';
      log.warn({ reason }, 'hello refused');
      socket.close(CLOSE.badHello, reason);
      throw error;
    }
  }

  /** The welcome is on its way: requests of ours may follow it. */
  function open(greeted: Link): void {
    if (socket.closed) return;
    greeted.ready = true;
    options.onLinked(greeted.machineId);
  }

  /** Last stored event of each session of this machine, archived ones that the daemon still holds included. */
  async function ackedSeqs(machineId: string, held: string[]): Promise<LinkWelcome['sessions']> {
    const acked = new Map<string, number>();
    for (const session of await store.sessions.ofMachine(machineId)) {
      acked.set(session.sessionId, session.lastSeq);
    }
    for (const sessionId of held) {
      if (acked.has(sessionId)) continue;
      const [session] = await store.sessions.findByPrefix(sessionId, 1);
      if (session?.sessionId === sessionId && session.machineId === machineId) {
        acked.set(sessionId, session.lastSeq);
      }
    }
    return [...acked].map(([sessionId, ackedSeq]) => ({ sessionId, ackedSeq }));
  }

  async function mustOwn(sessionId: string): Promise<void> {
    if (!welcomed) throw new KaiwuError('conflict', 'say hello first.');
    if (owned.has(sessionId)) return;
    const session = await store.sessions.get(sessionId);
    if (session.machineId !== link?.machineId) {
      throw new KaiwuError('forbidden', `session ${sessionId} does not live on machine ${link?.machineId}.`);
    }
    owned.add(sessionId);
  }

  async function append(params: unknown): Promise<BackendMethods['events.append']['result']> {
    try {
      const { sessionId, events } = parseFrame(appendSchema, params, 'events.append');
      await mustOwn(sessionId);
      return await store.transcripts.append(sessionId, events);
    } catch (error) {
      if (error instanceof KaiwuError) {
        const fields = { machineId: link?.machineId, code: error.code, reason: error.message };
        log.warn(fields, 'events.append refused');
      }
      throw error;
    }
  }

  async function tellDelta(params: unknown): Promise<void> {
    try {
      const delta = parseFrame(deltaSchema, params, 'delta');
      await mustOwn(delta.sessionId);
      store.feed.tell({ type: 'delta', ...delta });
    } catch (error) {
      log.warn({ machineId: link?.machineId, reason: String(error) }, 'delta refused');
    }
  }

  async function noteServers(params: unknown): Promise<Record<string, never>> {
    if (!welcomed || link === undefined) throw new KaiwuError('conflict', 'say hello first.');
    const { servers } = parseFrame(machineServersSchema, params, 'mcp.states');
    await options.onServers(link.machineId, servers);
    return {};
  }

  const requests = createSessionRequests({ ...options, deviceId: bearer.deviceId, mustOwn });

  const inTurn = <T>(work: Promise<T>): Promise<T> => {
    handled = work;
    return work;
  };
  const peer = createRpcPeer<BackendMethods, DaemonMethods>({
    send: (text) => socket.send(text),
    handlers: {
      hello: (params) => inTurn(hello(params)),
      'events.append': (params) => inTurn(append(params)),
      'session.token': (params) => inTurn(requests.token(params)),
      'mcp.states': (params) => inTurn(noteServers(params)),
      'transcript.tail': (params) => inTurn(requests.tail(params)),
    },
    onNotice(method, params) {
      if (method === 'delta') void inTurn(tellDelta(params));
    },
    onError: (error) => log.error({ machineId: link?.machineId, error }, 'link request failed'),
  });

  return { close: socket.close, closed };
}

function protocolMismatch(received: number): KaiwuError {
  const older = received < LINK_PROTOCOL ? 'on the machine' : 'of the backend';
  return new KaiwuError(
    'daemon_too_old',
    `link protocol ${LINK_PROTOCOL} expected, ${received} received: update the Kaiwu ${older}.`,
  );
}
