import { KaiwuError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';

/**
 * A backend's address as it is stored and used: no trailing slash, a path prefix kept.
 * @throws invalid_input for what is not an http address, carries a password, or would send a token in the clear
 */
export function toBaseUrl(text: string): string {
  const url = tryParse(text);
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw badUrl(text, 'is not an http or https address', 'Write it whole, as in https://kaiwu.example.com');
  }
  if (url.username !== '' || url.password !== '') {
    throw badUrl(`${url.protocol}//…@${url.host}`, 'carries a user name or password', 'Leave them out.');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    const hint = `Use https://${url.host}, or reach it through a tunnel to 127.0.0.1.`;
    throw badUrl(text, 'is plain http to another machine, which would show the token to the network', hint);
  }
  if (url.search !== '' || url.hash !== '') {
    throw badUrl(text, 'has a query or a fragment', `Use ${url.origin}${url.pathname}`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function tryParse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

const badUrl = (url: string, why: string, hint: string): KaiwuError =>
  new KaiwuError('invalid_input', `The address ${JSON.stringify(url.slice(0, 200))} ${why}.`, { hint });
