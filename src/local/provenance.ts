import { endianness, networkInterfaces } from 'node:os';
import { AGENT_SESSION_VARIABLE, UNKNOWN_PROCESS } from '../core/agent-mark.ts';
import { isLocalPeer, type TcpConnection, toPlainAddress } from '../core/loopback.ts';
import { listOf, read, userOf, socketOf } from './proc.ts';

interface SocketRow {
  inode: string;
  uid: number;
}

/**
 * The agent session that the process at the other end of a connection from this machine belongs to: the process itself or one
 * that it descends from was started as an agent. `UNKNOWN_PROCESS` where the process cannot be told: it has gone, or hides from
 * its own user. Undefined where there is none, and where no one can look: on other systems than Linux, for other machines, and
 * for processes of other users.
 */
export function agentSessionBehind(connection: TcpConnection): string | undefined {
  if (process.platform !== 'linux' || !isFromHere(connection)) return undefined;
  const tables = readTables();
  // Nobody can look at connections here; no caller had a hand in that.
  if (tables === undefined) return undefined;
  const row = rowOf(connection, tables);
  // A socket that its process has left has no inode and no user.
  if (row === undefined || row.inode === '0') return UNKNOWN_PROCESS;
  const { owners, hidden } = holdersOf(row.inode);
  if (owners.length > 0) return sessionOf(owners);
  // It may have gone while it was looked for.
  if (rowOf(connection, readTables() ?? [])?.inode !== row.inode) return UNKNOWN_PROCESS;
  if (row.uid !== process.getuid?.()) return undefined;
  // Some programs hide even from their own user, such as the server's end of an SSH tunnel. One of these holds it.
  return hidden.length === 0 ? UNKNOWN_PROCESS : sessionOf(hidden);
}

/** The user whose process is at the other end of a connection from this machine; undefined where that cannot be told. */
export function userBehind(connection: TcpConnection): number | undefined {
  if (process.platform !== 'linux' || !isFromHere(connection)) return undefined;
  const row = rowOf(connection, readTables() ?? []);
  return row === undefined || row.inode === '0' ? undefined : row.uid;
}

function isFromHere(connection: TcpConnection): boolean {
  if (isLocalPeer(connection)) return true;
  const peer = toPlainAddress(connection.peer.address);
  return Object.values(networkInterfaces()).some((own) => own?.some(({ address }) => address === peer));
}

function readTables(): string[] | undefined {
  const tables = ['tcp', 'tcp6']
    .map((name) => read(`/proc/net/${name}`))
    .filter((text) => text !== undefined);
  return tables.length === 0 ? undefined : tables.flatMap((text) => text.split('\n'));
}

/** From the kernel's table of connections: the row that the peer sees as its own. */
function rowOf({ server, peer }: TcpConnection, lines: string[]): SocketRow | undefined {
  const near = toTableNames(peer);
  const far = toTableNames(server);
  for (const line of lines) {
    const [, local = '', remote = '', , , , , uid, , inode] = line.trim().split(/\s+/);
    if (inode !== undefined && near.includes(local) && far.includes(remote)) {
      return { inode, uid: Number(uid) };
    }
  }
  return undefined;
}

/** An end of a connection as the tables write it; an IPv4 one stands in either table. */
function toTableNames({ address, port }: TcpConnection['peer']): string[] {
  const plain = toPlainAddress(address);
  const bytes = plain.includes(':')
    ? [toIpv6Bytes(plain)]
    : [plain.split('.').map(Number), [...MAPPED, ...plain.split('.').map(Number)]];
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  return bytes.map((address) => `${toHexWords(address)}:${hexPort}`);
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];

function toIpv6Bytes(address: string): number[] {
  const [head = [], tail = []] = address
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((n) => [n >> 8, n & 255]);
}

/** The kernel prints an address as numbers of 32 bits in the machine's own order. */
function toHexWords(bytes: number[]): string {
  const words = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.slice(4 * i, 4 * i + 4));
  return words
    .flatMap((word) => (endianness() === 'LE' ? word.toReversed() : word))
    .map((byte) => byte.toString(16).toUpperCase().padStart(2, '0'))
    .join('');
}

/** Processes that hold a socket, and those of this user that do not show what they hold. */
function holdersOf(inode: string): { owners: number[]; hidden: number[] } {
  const owners: number[] = [];
  const hidden: number[] = [];
  for (const pid of (listOf('/proc') ?? []).filter((name) => /^\d+$/.test(name)).map(Number)) {
    const files = listOf(`/proc/${pid}/fd`);
    if (files === undefined) {
      if (userOf(pid) === process.getuid?.()) hidden.push(pid);
    } else if (files.some((file) => socketOf(pid, file) === inode)) owners.push(pid);
  }
  return { owners, hidden };
}

/** The mark of the first of these processes, or of those that they descend from, that has one. */
function sessionOf(pids: number[]): string | undefined {
  const visited = new Set<number>();
  for (let pid of pids) {
    for (; pid > 1 && !visited.has(pid); pid = parentOf(pid)) {
      visited.add(pid);
      const session = markOf(pid);
      if (session !== undefined) return session;
    }
  }
  return undefined;
}

function markOf(pid: number): string | undefined {
  const prefix = `${AGENT_SESSION_VARIABLE}=`;
  const entry = (read(`/proc/${pid}/environ`) ?? '').split('\0').find((text) => text.startsWith(prefix));
  return entry?.slice(prefix.length);
}

function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  // The second field is the program's name in brackets and may itself hold spaces and brackets.
  const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  return Number(parent ?? 0);
}
