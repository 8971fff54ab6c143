/** Whether a host name or an address, bare or in brackets, can only mean this machine: localhost, 127.0.0.0/8, ::1. */
export function isLoopback(host: string): boolean {
  const plain = toPlainAddress(host);
  return plain === 'localhost' || plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain);
}

/** Whether the other end of a connection is on this machine: its address is a loopback one, or the very one that it reached. */
export const isLocalPeer = ({ server, peer }: TcpConnection): boolean =>
  isLoopback(peer.address) || toPlainAddress(peer.address) === toPlainAddress(server.address);

/** A TCP connection as its server sees it. Addresses as Node gives them. */
export interface TcpConnection {
  server: { address: string; port: number };
  peer: { address: string; port: number };
}

/** Lower case, without brackets and zone; an IPv4 address that IPv6 carries as that. */
export const toPlainAddress = (address: string): string =>
  address
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '')
    .replace(/^::ffff:(?=\d+\.)/, '');
