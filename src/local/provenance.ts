import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { AGENT_SESSION_VARIABLE } from '../core/agent-mark.ts';

/** The two ends of a TCP connection on this machine, as its server sees them. */
export interface LoopbackConnection {
  serverPort: number;
  peerPort: number;
}

/** Most generations that are looked at. */
const MAX_ANCESTORS = 64;

/**
 * The agent session that the process at the other end of a loopback connection belongs to: the process itself or one that it
 * descends from was started as an agent. Undefined where there is none, and where this cannot be told: on other systems than
 * Linux, for processes of other users, and for one that has cut itself off from its parents and cleaned its environment.
 */
export function agentSessionBehind(connection: LoopbackConnection): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const inode = socketInode(connection);
  let pid = inode === undefined ? undefined : ownerOf(inode);
  for (let i = 0; i < MAX_ANCESTORS && pid !== undefined && pid > 1; i++) {
    const session = markOf(pid);
    if (session !== undefined) return session;
    pid = parentOf(pid);
  }
  return undefined;
}

/** From the kernel's table of connections: the row that the peer sees as its own. */
function socketInode({ serverPort, peerPort }: LoopbackConnection): string | undefined {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');
  for (const table of ['tcp', 'tcp6']) {
    for (const line of (read(`/proc/net/${table}`) ?? '').split('\n')) {
      const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/\s+/);
      if (local.endsWith(`:${hex(peerPort)}`) && remote.endsWith(`:${hex(serverPort)}`) && inode !== '0')
        return inode;
    }
  }
  return undefined;
}

function ownerOf(inode: string): number | undefined {
  const wanted = `socket:[${inode}]`;
  const pids = list('/proc').filter((name) => /^\d+$/.test(name));
  const owner = pids.find((pid) =>
    list(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === wanted),
  );
  return owner === undefined ? undefined : Number(owner);
}

function markOf(pid: number): string | undefined {
  const prefix = `${AGENT_SESSION_VARIABLE}=`;
  const entry = (read(`/proc/${pid}/environ`) ?? '').split('\0').find((text) => text.startsWith(prefix));
  return entry?.slice(prefix.length);
}

function parentOf(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The second field is the program's name in brackets and may itself hold spaces and brackets.
  const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  return parent === undefined ? undefined : Number(parent);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
