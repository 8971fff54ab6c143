import { SERVER_TIMEOUTS } from '../../core/managed/config.ts';
import { MANAGED_LIMITS } from '../../core/managed/managed.ts';
import type { OpenTransport } from '../connection.ts';
import { createServerAuth } from '../oauth/server-auth.ts';
import { toServerUrl } from './address.ts';
import { type BoundedFetch, createFetch, toOwnHeaders } from './create-fetch.ts';
import { createHttpTransport } from './http-transport.ts';
import { createPace } from './pace.ts';
import { readAuthorities, toHeaders } from './secrets.ts';

/** Milliseconds for the farewell to a server. */
const FAREWELL_MS = 1000;
/** Milliseconds between two renewals of a session that no call asked for. */
const RENEWAL_PAUSE_MS = 60_000;

/** Opens a way to a server over HTTP. Nothing is sent before the first message. */
export const openHttp: OpenTransport = async (server, deps) => {
  const { config } = server;
  const url = toServerUrl(config.url ?? '');
  const headers = toHeaders(server);
  const ca = await readAuthorities(server);
  const connectMs = 1000 * (config.connectTimeoutSeconds ?? SERVER_TIMEOUTS.connect);
  const network = createFetch({
    network: deps.network,
    version: deps.version,
    peer: 'MCP server',
    connectMs,
    maxBytes: MANAGED_LIMITS.message,
    isSecret: Object.keys(headers).length > 0,
    ...(ca === undefined ? {} : { ca }),
  });
  const auth = createServerAuth(server, deps, ca);
  const pace = createPace(deps);
  let renewedAt = 0;

  const fetch: BoundedFetch['fetch'] = async (input, init = {}) => {
    const isStream = (init.method ?? 'GET') === 'GET';
    if (isStream) await pace(init.signal);
    const response = await network.fetch(input, init);
    const sent = toOwnHeaders(init);
    auth.note(response, sent.get('authorization'));
    const sessionId = sent.get('mcp-session-id');
    if (isStream && response.status === 404 && sessionId !== null) {
      const now = deps.now().getTime();
      if (now - renewedAt > RENEWAL_PAUSE_MS) {
        renewedAt = now;
        transport.noteLost(sessionId);
      }
    }
    return response;
  };

  const transport = createHttpTransport({
    url,
    fetch,
    headers,
    auth: auth.provider,
    connectMs,
    startMs: 1000 * (config.startTimeoutSeconds ?? SERVER_TIMEOUTS.start),
  });
  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FAREWELL_MS);
    });
    await Promise.race([transport.endSession().catch(() => undefined), late]).finally(() =>
      clearTimeout(timer),
    );
    await transport.close();
    network.close();
  }
  return {
    transport,
    get kind() {
      return transport.kind;
    },
    stderrTail: () => '',
    noiseLines: () => 0,
    whyGone: transport.whyGone,
    close: () => (closing ??= close()),
  };
};
