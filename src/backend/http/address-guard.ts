import type { IncomingMessage } from 'node:http';
import { KaiwuError } from '../../core/errors.ts';
import { isLoopback, toPlainAddress } from '../../core/loopback.ts';

/** Who this server answers as. A page that points its own name at us (DNS rebinding) names another host. */
export interface AddressPolicy {
  /** Host that the server is bound to, as given. */
  boundHost: string;
  /** Host names by which others reach it, without port. */
  publicHosts: string[];
  /** Origins of pages elsewhere that may call: `https://app.example`. */
  allowedOrigins: string[];
}

/** @throws forbidden */
export function requireOwnAddress(incoming: IncomingMessage, policy: AddressPolicy): void {
  const { host, origin } = incoming.headers;
  const name = hostName(host);
  const own = [policy.boundHost, incoming.socket.localAddress ?? '', ...policy.publicHosts].map(bracketed);
  if (name === undefined || !(isLoopback(name) || own.includes(name))) {
    throw new KaiwuError('forbidden', `This server does not answer as ${shown(host)}.`, {
      hint: 'Use its own address, or add the name to the public hosts of the backend.',
    });
  }
  if (origin === undefined || policy.allowedOrigins.includes(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()) return;
  throw new KaiwuError('forbidden', `Pages of ${shown(origin)} may not call this server.`, {
    hint: 'Add the origin to the allowed origins of the backend if it is yours.',
  });
}

/** An IPv6 address as it stands in a URL; one that carries an IPv4 address as that. */
export function bracketed(host: string): string {
  const plain = toPlainAddress(host);
  return plain.includes(':') ? `[${plain}]` : plain;
}

function hostName(host: string | undefined): string | undefined {
  return host === undefined
    ? undefined
    : /^(\[[0-9a-f:.]+\]|[^:/@\s]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();
}

const shown = (text: string | undefined): string => JSON.stringify((text ?? '').slice(0, 100));
