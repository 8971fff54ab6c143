import { Agent as HttpAgent } from 'node:http';
import { lookUp } from '../client/loopback.ts';
import { createTlsAgent } from '../client/tls-agent.ts';
import type { ManagedNetwork } from '../managed/http/network.ts';
import { proxyOf } from './proxy-settings.ts';

/** Managed servers over HTTP are reached as the backend is: through the proxy of the environment, by the same rules. */
export const managedNetworkOf = (env: NodeJS.ProcessEnv): ManagedNetwork => ({
  createAgent: (origin) =>
    origin.protocol === 'https:'
      ? createTlsAgent(origin.href, proxyOf(env))
      : new HttpAgent({ keepAlive: true }),
  lookup: lookUp,
});
