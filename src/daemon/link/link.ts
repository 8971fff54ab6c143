import { KaiwuError } from '../../core/errors.ts';
import {
  type BackendMethods,
  type DaemonMethods,
  type DaemonNotices,
  LINK_PROTOCOL,
  type LinkHello,
  type LinkWelcome,
} from '../../core/link.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { createRpcPeer, type RpcHandlers, type RpcPeer } from '../../core/rpc-peer.ts';
import type { DaemonOptions, LinkLimits } from '../options.ts';
import { createBackoff } from './backoff.ts';
import { openSocket, type SocketEnd } from './socket.ts';
import { toLinkUrl } from './url.ts';

const HELLO_LIMIT_MS = 20_000;
/** Unsent bytes from which on live text is dropped: what is stored arrives in any case. */
const SLOW_BYTES = 256 * 1024;

export type LinkState = 'connecting' | 'up' | 'waiting' | 'sign_in_needed' | 'conflict' | 'stopped';

export interface LinkStatus {
  state: LinkState;
  url: string;
  /** When this state began, RFC 3339. */
  since: string;
  lastError?: string;
  /** Since it was last up. */
  attempts: number;
}

export interface MachineLink {
  start(): void;
  stop(): void;
  status(): LinkStatus;
  delta(delta: DaemonNotices['delta']): void;
  /** @throws backend_unreachable while there is no link; machine_offline when it ends; timeout; what the backend threw */
  ask<M extends keyof BackendMethods>(
    method: M,
    params: BackendMethods[M]['params'],
    timeoutMs: number,
  ): Promise<BackendMethods[M]['result']>;
  /** Resolves when there is a link, after `withinMs`, or with the signal. */
  whenUp(withinMs: number, signal: AbortSignal): Promise<void>;
}

/** Keeps one connection to the backend, for ever: each end of it is followed by another attempt. */
export function createMachineLink(options: {
  link: DaemonOptions['link'];
  limits: LinkLimits;
  runtime: Runtime;
  random(): number;
  log: Logger;
  handlers: RpcHandlers<DaemonMethods>;
  hello(): LinkHello;
  onNotice(method: string, params: unknown): void;
  onUp(peer: RpcPeer<BackendMethods>, welcome: LinkWelcome): void;
  onDown(): void;
  onFatal(error: Error): void;
}): MachineLink {
  const { link, limits, runtime, log } = options;
  const url = toLinkUrl(link.url);
  const backoff = createBackoff({
    minMs: limits.backoffMinMs,
    maxMs: limits.backoffMaxMs,
    random: options.random,
  });
  let status: LinkStatus = {
    state: 'connecting',
    url: link.url,
    since: runtime.now().toISOString(),
    attempts: 0,
  };
  let timer: NodeJS.Timeout | undefined;
  let drop: (() => void) | undefined;
  let live: { peer: RpcPeer<BackendMethods>; since: number; unsentBytes(): number } | undefined;
  let stopped = false;
  const awaited = new Set<() => void>();

  function enter(state: LinkState, lastError = status.lastError): void {
    const since = state === status.state ? status.since : runtime.now().toISOString();
    status = { ...status, state, since, ...(lastError === undefined ? {} : { lastError }) };
  }

  async function readToken(): Promise<{ token: string } | { problem: string }> {
    try {
      const token = await link.token();
      return token === undefined ? { problem: 'nobody is signed in' } : { token };
    } catch (error) {
      return { problem: toText(error) };
    }
  }

  function begin(): void {
    attempt().catch((error: unknown) => {
      // Not even a connection came about, such as with a token that no header can carry.
      if (!stopped) retry({ kind: 'failed', message: toText(error) });
    });
  }

  async function attempt(): Promise<void> {
    status.attempts += 1;
    if (status.state === 'waiting') enter('connecting');
    const credentials = await readToken();
    if (stopped) return;
    if ('problem' in credentials) return retry({ kind: 'unauthorized', message: credentials.problem });
    let peer: RpcPeer<BackendMethods> | undefined;
    const socket = openSocket({
      url,
      token: credentials.token,
      agent: link.agent,
      ca: link.ca,
      limits,
      monotonicMs: runtime.monotonicMs,
      onOpen() {
        peer = createRpcPeer<DaemonMethods, BackendMethods>({
          send: socket.send,
          handlers: options.handlers,
          onNotice: options.onNotice,
          onError: (error) => log.error({ error }, 'a request of the backend failed unexpectedly'),
        });
        greet(peer, socket).catch((error: unknown) => socket.end(toEnd(error)));
      },
      onText: (text) => peer?.receive(text),
      onEnd(end) {
        drop = undefined;
        peer?.close();
        if (live !== undefined) {
          options.onDown();
          if (runtime.monotonicMs() - live.since >= limits.stableMs) backoff.reset();
          live = undefined;
        }
        if (!stopped) retry(end);
      },
    });
    drop = () => socket.end({ kind: 'failed', message: 'the daemon stops' });
  }

  async function greet(peer: RpcPeer<BackendMethods>, socket: { unsentBytes(): number }): Promise<void> {
    const welcome = await peer.request('hello', options.hello(), HELLO_LIMIT_MS);
    if (welcome.protocol !== LINK_PROTOCOL) {
      throw new KaiwuError(
        'daemon_too_old',
        `the backend speaks version ${welcome.protocol} of the link, this daemon ${LINK_PROTOCOL}`,
      );
    }
    live = { peer, since: runtime.monotonicMs(), unsentBytes: socket.unsentBytes };
    status = { state: 'up', url: link.url, since: runtime.now().toISOString(), attempts: 0 };
    log.info({ url: link.url, backendVersion: welcome.backendVersion }, 'linked to the backend');
    options.onUp(peer, welcome);
    for (const done of awaited) done();
  }

  function retry(end: SocketEnd): void {
    if (end.kind === 'conflict') return giveUp(end);
    const waitMs = end.kind === 'unauthorized' ? Math.max(limits.signInMs, backoff.next()) : backoff.next();
    const state = end.kind === 'unauthorized' ? 'sign_in_needed' : 'waiting';
    // One line a change, not one an attempt: a backend may be away for days.
    if (status.state !== state || status.lastError !== end.message) {
      log.warn(
        { url: link.url, state, error: end.message, waitMs: Math.round(waitMs) },
        'no link to the backend',
      );
    }
    enter(state, end.message);
    timer = setTimeout(begin, waitMs);
  }

  /** The backend has made sure that the other daemon lives before it refuses this one. */
  function giveUp({ message }: SocketEnd): void {
    stopped = true;
    enter('conflict', message);
    options.onFatal(
      new KaiwuError('conflict', `Another daemon serves this machine: ${message}`, {
        hint: 'Stop the other daemon, or give this home a machine id of its own.',
      }),
    );
  }

  return {
    start: begin,
    stop() {
      stopped = true;
      clearTimeout(timer);
      drop?.();
      for (const done of awaited) done();
      enter('stopped');
    },
    status: () => ({ ...status }),
    async ask(method, params, timeoutMs) {
      if (live === undefined) {
        throw new KaiwuError('backend_unreachable', `The daemon is not linked to ${link.url}.`, {
          hint: '`kaiwu daemon status` says why; it links again by itself.',
        });
      }
      return live.peer.request(method, params, timeoutMs);
    },
    async whenUp(withinMs, signal) {
      if (live !== undefined || stopped || signal.aborted) return;
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(limit);
          signal.removeEventListener('abort', done);
          awaited.delete(done);
          resolve();
        };
        const limit = setTimeout(done, withinMs);
        signal.addEventListener('abort', done);
        awaited.add(done);
      });
    },
    delta(delta) {
      if (live !== undefined && live.unsentBytes() < SLOW_BYTES) live.peer.notify('delta', delta);
    },
  };
}

const toText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Why the backend did not welcome this daemon. */
function toEnd(error: unknown): SocketEnd {
  const code = error instanceof KaiwuError ? error.code : 'internal';
  const message = `the backend did not accept this daemon: ${toText(error)}`;
  if (code === 'not_authenticated' || code === 'forbidden') return { kind: 'unauthorized', message };
  return { kind: code === 'conflict' ? 'conflict' : 'failed', message };
}
