import { isLoopback } from '../core/loopback.ts';

/** Values of HTTPS_PROXY and NO_PROXY. Plain http goes to loopback only, which no proxy sees. */
export interface ProxySettings {
  httpsProxy?: string;
  noProxy?: string;
  /** Hears that a proxy would be used, but for its address, which is none; the connection goes without it. */
  onUnusable?: () => void;
}

/** The proxy for a target, if any. */
export function toProxy(target: URL, { httpsProxy, noProxy, onUnusable }: ProxySettings): URL | undefined {
  if (!httpsProxy || target.protocol !== 'https:' || isLoopback(target.hostname)) return undefined;
  if (isExcepted(target, noProxy ?? '')) return undefined;
  const proxy = parseProxy(httpsProxy);
  if (proxy === undefined) onUnusable?.();
  return proxy;
}

function parseProxy(text: string): URL | undefined {
  try {
    const url = new URL(text.includes('://') ? text : `http://${text}`);
    const isProxy = ['http:', 'https:'].includes(url.protocol) && url.pathname === '/';
    return isProxy ? url : undefined;
  } catch {
    return undefined;
  }
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
