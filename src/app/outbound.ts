import { KaiwuError } from '../core/errors.ts';
import type { Outbound } from '../core/ports/host.ts';
import { createFetch } from '../managed/http/create-fetch.ts';
import { managedNetworkOf } from './managed-network.ts';

const DEFAULT_BYTES = 4 * 1024 * 1024;
const CONNECT_MS = 10_000;

/** How the backend asks services of models and of search: bounded, and by the same rules as managed servers over HTTP. */
export function createOutbound(env: NodeJS.ProcessEnv, version: string): Outbound {
  const network = managedNetworkOf(env);
  return async ({ url, body, headers = {}, timeoutMs, maxBytes = DEFAULT_BYTES, signal }) => {
    const late = AbortSignal.timeout(timeoutMs);
    const client = createFetch({
      network,
      version,
      peer: 'service',
      connectMs: Math.min(CONNECT_MS, timeoutMs),
      maxBytes,
      isSecret: Object.keys(headers).length > 0,
    });
    try {
      const response = await client.fetch(url, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any([signal, late]),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toFailure(error, late.aborted, timeoutMs);
    } finally {
      client.close();
    }
  };
}

function toFailure(error: unknown, isLate: boolean, timeoutMs: number): KaiwuError {
  if (isLate)
    return new KaiwuError('provider_failed', `The service did not answer within ${timeoutMs / 1000} s.`);
  if (!(error instanceof KaiwuError))
    return new KaiwuError('provider_failed', 'The service could not be asked.');
  const { hint } = error;
  return new KaiwuError('provider_failed', error.message, hint === undefined ? {} : { hint });
}
