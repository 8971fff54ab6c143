import { Agent as HttpsAgent } from 'node:https';
import { HttpsProxyAgent } from 'hpagent';
import { KaiwuError } from '../core/errors.ts';
import { isLoopback } from './base-url.ts';

/** Values of HTTPS_PROXY and NO_PROXY. Plain http goes to loopback only, which no proxy sees. */
export interface ProxySettings {
  httpsProxy?: string;
  noProxy?: string;
}

/**
 * The agent for TLS connections to a backend, for HTTP and for WebSocket alike: through the proxy where one is set.
 * @throws invalid_input when the proxy's address cannot be used; it is never shown with its password
 */
export function createTlsAgent(target: string, proxy: ProxySettings = {}): HttpsAgent {
  const address = toProxy(new URL(target), proxy);
  if (address === undefined) return new HttpsAgent({ keepAlive: true });
  return new HttpsProxyAgent({ keepAlive: true, proxy: address });
}

/** The proxy for a target, if any. */
export function toProxy(target: URL, { httpsProxy, noProxy }: ProxySettings): URL | undefined {
  if (!httpsProxy || target.protocol !== 'https:' || isLoopback(target.hostname)) return undefined;
  if (isExcepted(target, noProxy ?? '')) return undefined;
  const text = httpsProxy.includes('://') ? httpsProxy : `http://${httpsProxy}`;
  try {
    const url = new URL(text);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // Told below.
  }
  throw new KaiwuError('invalid_input', 'HTTPS_PROXY does not hold the address of an http or https proxy.', {
    hint: 'Write it as http://host:port, or list the backend in NO_PROXY.',
  });
}

/** NO_PROXY: names separated by commas; a name covers its subdomains, `*` covers all, a port may follow. */
function isExcepted(target: URL, noProxy: string): boolean {
  const host = target.hostname.toLowerCase();
  const port = target.port || '443';
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, name = '', wantedPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (wantedPort !== undefined && wantedPort !== port) return false;
      const suffix = name.replace(/^\*?\.?/, '');
      return name === '*' || host === suffix || (suffix !== '' && host.endsWith(`.${suffix}`));
    });
}
