import { BlockList, isIP, isIPv6 } from 'node:net';
import { KaiwuError } from '../../core/errors.ts';
import { isLoopback, toPlainAddress } from '../../core/loopback.ts';

/** Addresses that no router of the internet carries: a home, a company, a private network of machines. */
const PRIVATE = new BlockList();
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Of no host, and so of this one.
  ['0.0.0.0', 8],
] as const) {
  PRIVATE.addSubnet(net, bits, 'ipv4');
}
PRIVATE.addSubnet('fc00::', 7, 'ipv6');
PRIVATE.addSubnet('fe80::', 10, 'ipv6');
PRIVATE.addAddress('::1', 'ipv6');
PRIVATE.addAddress('::', 'ipv6');

/** Whether an address, bare or in brackets, is this machine or one of a private network; a name never is. */
export function isPrivateAddress(host: string): boolean {
  const plain = toPlainAddress(host);
  return isIP(plain) !== 0 && PRIVATE.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}

/** Whether a host is an address of the internet; of a name, only a lookup tells. */
export const isPublicAddress = (host: string): boolean =>
  isIP(toPlainAddress(host)) !== 0 && !isPrivateAddress(host);

/** This machine or a private network, as far as the host alone tells. */
export const isNearHost = (host: string): boolean => {
  // A name may be written with the dot at its end, too.
  const plain = host.replace(/\.$/, '');
  return isLoopback(plain) || isPrivateAddress(plain);
};

/** An address as messages show it: its path and query may be secrets. */
export const toShownAddress = (url: URL): string => `${url.protocol}//${url.host}`;

/** @throws mcp_server_unavailable for an address that cannot be used; the message shows no more than scheme and host */
export function toServerUrl(text: string): URL {
  const url = parse(text);
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw unusable(
      'Its address is not an http or https address',
      'Write it whole, as in https://mcp.example.com/mcp',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw unusable(
      `The address ${toShownAddress(url)} carries a user name or password`,
      'Leave them out, and set `token` or a header in place of them.',
    );
  }
  url.hash = '';
  return url;
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

const unusable = (message: string, hint: string): KaiwuError =>
  new KaiwuError('mcp_server_unavailable', `${message}.`, { hint });

/** A secret over plain http would be read by whoever carries it: only this machine and private networks may. */
export function refusePlain(url: URL): KaiwuError {
  const at = toShownAddress(url);
  return new KaiwuError(
    'mcp_server_unavailable',
    `${at} is plain http to a machine outside of the private network, which would show the token or headers to everyone on the way.`,
    { hint: `Use https://${url.host}, or reach it by a private address.` },
  );
}
