import {
  Client,
  type ConnectOptions,
  ProtocolError,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client';
import { KaiwuError } from '../../core/errors.ts';
import type { RunnableServer } from '../../core/managed/managed.ts';
import type { ConnectionDeps, OpenedTransport, OpenTransport } from '../connection.ts';
import { toOwnError } from '../http/explain.ts';
import { AnsweredError, type Channel, createChannel } from './channel.ts';
import { followChanges } from './follow-changes.ts';

/** How long a program may leave the newer generation's first question unanswered before the older one's handshake follows. */
const PROBE_MS = 5000;
/** What a server of the newer generation alone answers to the handshake. */
const UNSUPPORTED_VERSION = -32_022;

type PriorDiscovery = NonNullable<ConnectOptions['prior']>;

/** A server that answers. */
export interface Link extends Pick<Channel, 'request' | 'gone'> {
  opened: OpenedTransport;
  client: Client;
  protocolVersion: string;
  serverInfo?: { name: string; version: string };
  /** It has tools, by its own word. */
  hasTools: boolean;
  /** No handshake: each request says who asks. */
  isModern: boolean;
  /** Lets go of everything. May be called again after it failed. */
  close(): Promise<void>;
}

export interface LinkOptions {
  server: RunnableServer;
  deps: ConnectionDeps;
  open: OpenTransport;
  /** Skips the newer generation's first question: the program ended when it was asked. */
  isOldOnly: boolean;
  /** Milliseconds for all of it. */
  limitMs: number;
  signal: AbortSignal;
  /** The server says that its tools changed. */
  onToolsChanged(): void;
  /** Hears of the way as soon as there is one, so that it can be let go however this ends. */
  onOpened(opened: OpenedTransport): void;
  /** Hears of it outside any request: over HTTP the server also speaks unasked. */
  onSignInNeeded(error: KaiwuError): void;
}

/** The program ended when it was asked in the way of the newer generation: some of the older one do. */
export class EndedAtProbe extends Error {}

/** Opens a way and agrees on a generation of the protocol, over one process or address. @throws KaiwuError | EndedAtProbe */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { server, deps, limitMs } = options;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), limitMs);
  const signal = AbortSignal.any([options.signal, deadline.signal]);
  let opened: OpenedTransport | undefined;
  try {
    opened = await options.open(server, deps, signal);
    options.onOpened(opened);
    const channel = createChannel(opened, (error) => {
      const own = toOwnError(error);
      if (own?.code === 'mcp_sign_in_needed') options.onSignInNeeded(own);
    });
    // An abort ends the handshake at once; what is left of the way is let go below.
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    const client = await Promise.race([negotiate(channel, opened, options), aborted]);
    return toLink(client, channel, opened, options);
  } catch (error) {
    if (options.signal.aborted) throw new KaiwuError('canceled', 'The connection attempt was ended.');
    if (deadline.signal.aborted) throw tooSlow(server, limitMs, opened);
    throw explain(error, opened, options.isOldOnly);
  } finally {
    clearTimeout(timer);
  }
}

async function negotiate(
  channel: Channel,
  opened: OpenedTransport,
  { deps, isOldOnly, limitMs, onToolsChanged }: LinkOptions,
): Promise<Client> {
  const connect = async (mode: 'auto' | 'legacy', prior?: PriorDiscovery): Promise<Client> => {
    const timeoutMs = opened.kind === 'stdio' ? Math.min(PROBE_MS, limitMs / 2) : limitMs;
    const client = new Client(
      { name: 'kaiwu', version: deps.version },
      { versionNegotiation: { mode, probe: { timeoutMs } } },
    );
    client.setNotificationHandler('notifications/tools/list_changed', () => onToolsChanged());
    await client.connect(channel.face(), { timeout: limitMs, ...(prior === undefined ? {} : { prior }) });
    return client;
  };
  try {
    return await connect(isOldOnly ? 'legacy' : 'auto');
  } catch (error) {
    // It is up now, and of the newer generation: it only was not when it was asked.
    const discover = channel.lateDiscovery();
    if (discover !== undefined) return connect('auto', { kind: 'modern', discover } as PriorDiscovery);
    if (!(error instanceof ProtocolError) || error.code !== UNSUPPORTED_VERSION) throw error;
    return connect('auto');
  }
}

function toLink(client: Client, channel: Channel, opened: OpenedTransport, options: LinkOptions): Link {
  const isModern = client.getProtocolEra() === 'modern';
  const protocolVersion = client.getNegotiatedProtocolVersion() ?? '';
  const info = client.getServerVersion();
  if (isModern) {
    channel.setEnvelope({ protocolVersion, clientInfo: { name: 'kaiwu', version: options.deps.version } });
  }
  const capabilities = client.getServerCapabilities();
  const stopFollowing =
    isModern && capabilities?.tools?.listChanged === true
      ? followChanges(client, channel.gone, options.onToolsChanged)
      : () => {};
  return {
    opened,
    client,
    protocolVersion,
    ...(info === undefined ? {} : { serverInfo: { name: cut(info.name), version: cut(info.version) } }),
    hasTools: capabilities?.tools !== undefined,
    isModern,
    request: channel.request,
    gone: channel.gone,
    close() {
      stopFollowing();
      return opened.close();
    },
  };
}

const cut = (text: string): string => text.slice(0, 200);

function tooSlow(server: RunnableServer, limitMs: number, opened: OpenedTransport | undefined): KaiwuError {
  const isProgram = server.config.url === undefined;
  const setting = isProgram ? 'startTimeoutSeconds' : 'connectTimeoutSeconds';
  const what = opened === undefined ? 'it could not be reached' : 'it did not answer the handshake';
  return new KaiwuError(
    'mcp_server_unavailable',
    `${isProgram ? 'command' : 'address'}: ${what} within ${limitMs / 1000} s.`,
    { hint: `If it only is slow, raise ${setting} of the server.` },
  );
}

function explain(error: unknown, opened: OpenedTransport | undefined, isOldOnly: boolean): Error {
  const own = toOwnError(error);
  if (own !== undefined) return own;
  const gone = opened?.whyGone();
  if (gone !== undefined) {
    const isAtProbe =
      error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed && !isOldOnly;
    if (isAtProbe && opened?.kind === 'stdio') return new EndedAtProbe(gone);
    return new KaiwuError(
      'mcp_server_unavailable',
      `${opened?.kind === 'stdio' ? 'command' : 'address'}: before it answered the handshake ${gone}.`,
    );
  }
  return new KaiwuError('mcp_server_unavailable', `protocol: ${describe(error)}.`);
}

function describe(error: unknown): string {
  if (error instanceof ProtocolError || error instanceof AnsweredError) {
    const { supported } = ((error as { data?: unknown }).data ?? {}) as { supported?: unknown };
    const speaks = Array.isArray(supported) ? `; it speaks ${supported.slice(0, 10).join(', ')} alone` : '';
    return `it answered the handshake with error ${error.code} (${error.message.slice(0, 500)})${speaks}`;
  }
  return error instanceof Error ? error.message.slice(0, 500) : 'it failed in an unknown way';
}
