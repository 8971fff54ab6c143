import { Agent as HttpsAgent } from 'node:https';
import { HttpsProxyAgent } from 'hpagent';
import { type ProxySettings, toProxy } from './proxy.ts';

/** The agent for TLS connections to a backend, for HTTP and for WebSocket alike: through the proxy where one is set. */
export function createTlsAgent(target: string, proxy: ProxySettings = {}): HttpsAgent {
  const address = toProxy(new URL(target), proxy);
  if (address === undefined) return new HttpsAgent({ keepAlive: true });
  return new HttpsProxyAgent({ keepAlive: true, proxy: address });
}
