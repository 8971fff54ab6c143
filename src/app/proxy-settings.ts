import type { ProxySettings } from '../client/proxy.ts';

/** Variables that name the proxy, the first that is set wins. */
const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

let isTold = false;

/** The proxy of the environment. One that cannot be used is told of once, on stderr, and nothing goes through it. */
export function proxyOf(env: NodeJS.ProcessEnv): ProxySettings {
  const name = VARIABLES.find((candidate) => env[candidate]);
  const noProxy = env.no_proxy || env.NO_PROXY;
  const value = name === undefined ? undefined : env[name];
  return {
    ...(noProxy ? { noProxy } : {}),
    ...(name === undefined || value === undefined
      ? {}
      : { httpsProxy: value, onUnusable: () => tell(name, value) }),
  };
}

function tell(name: string, value: string): void {
  if (isTold) return;
  isTold = true;
  const shown = JSON.stringify(withoutPassword(value).slice(0, 100));
  process.stderr.write(
    `Warning: ${name} is ${shown}, which is not the address of an http or https proxy (http://host:port); connecting without a proxy.\n`,
  );
}

/** All that may be a user's name and password is left out, however it is written. */
const withoutPassword = (address: string): string => address.replace(/^([a-z0-9+.-]*:\/\/)?.*@/is, '$1***@');
