import { KaiwuError } from '../../core/errors.ts';
import { LINK_PATH } from '../../core/link.ts';
import { isLoopback } from '../../core/loopback.ts';

/** Address of the machine link of a backend, which may stand below a path. @throws invalid_input | forbidden */
export function toLinkUrl(backendUrl: string): string {
  let url: URL;
  try {
    url = new URL(backendUrl);
  } catch (cause) {
    throw new KaiwuError('invalid_input', `The backend's address is not a URL: received ${backendUrl}`, {
      cause,
    });
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new KaiwuError('forbidden', `Plain HTTP to ${url.host} would show the token to the network.`, {
      hint: 'Use an https:// address, or a tunnel that ends on this machine.',
    });
  }
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  url.pathname = url.pathname.replace(/\/$/, '') + LINK_PATH;
  url.search = '';
  url.username = '';
  url.password = '';
  return url.href;
}
