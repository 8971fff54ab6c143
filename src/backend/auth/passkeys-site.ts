import { KaiwuError } from '../../core/errors.ts';
import { isDomain, type PasskeyRefusal } from '../../core/passkey.ts';

/** The page that a ceremony is held on. */
export interface PasskeySite {
  /** As the browser signs it, port included. */
  origin: string;
  /** Relying party id: the host name. Passkeys belong to it, whatever the port. */
  rpId: string;
}

const isLocalhost = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost');

/**
 * The page by the `Origin` of its request, which has been compared with the server's own address before.
 * @throws forbidden where no page asks | unsupported for a page that no passkey can belong to
 */
export function toPasskeySite(origin: string | undefined): PasskeySite {
  if (origin === undefined || !URL.canParse(origin)) {
    throw new KaiwuError('forbidden', 'Passkeys are for pages in a browser: the request names no origin.');
  }
  const url = new URL(origin);
  const secure = url.protocol === 'https:' || isLocalhost(url.hostname);
  if (secure && isDomain(url.hostname)) return { origin: url.origin, rpId: url.hostname };
  throw new KaiwuError('unsupported', `Passkeys do not work at ${url.origin.slice(0, 200)}.`, {
    hint: 'They belong to a host name: open the app at localhost, or at a name with HTTPS.',
    details: { reason: 'address' satisfies PasskeyRefusal },
  });
}
