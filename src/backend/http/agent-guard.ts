import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { sessionOfMark, toDisguiseError, UNKNOWN_PROCESS } from '../../core/agent-mark.ts';
import type { TcpConnection } from '../../core/loopback.ts';
import type { Bearer } from './authenticate.ts';
import type { AuthAudit } from './auth-audit.ts';

/** Finds the agent session behind a connection from this machine; `UNKNOWN_PROCESS` where its process cannot be told. */
export type AgentSessionBehind = (connection: TcpConnection) => string | undefined;

/** Tells whose process is at the other end. */
export interface AgentGuard {
  /** Of each new connection: a socket that was cut off no longer tells its addresses, and its last call may still run. */
  note(socket: Socket): void;
  sessionBehind(socket: Socket): string | undefined;
  /** For the doors beside the engine. What it refuses is in the audit. @throws permission_escalation_denied */
  refuseAgents(incoming: IncomingMessage, attempt: { name: string; bearer?: Bearer }): Promise<void>;
}

export function createAgentGuard(options: {
  agentSessionBehind?: AgentSessionBehind;
  audit: AuthAudit;
}): AgentGuard {
  const connections = new WeakMap<Socket, TcpConnection>();
  // A process cannot change where it comes from, so one look a connection is enough.
  const seen = new WeakMap<Socket, { session: string | undefined }>();

  function lookUp(socket: Socket): string | undefined {
    const connection = connections.get(socket);
    if (options.agentSessionBehind === undefined) return undefined;
    return connection === undefined ? UNKNOWN_PROCESS : options.agentSessionBehind(connection);
  }

  function sessionBehind(socket: Socket): string | undefined {
    const known = seen.get(socket) ?? { session: lookUp(socket) };
    seen.set(socket, known);
    return known.session;
  }

  return {
    note(socket) {
      const { localAddress, localPort, remoteAddress, remotePort } = socket;
      if (localAddress === undefined || localPort === undefined) return;
      if (remoteAddress === undefined || remotePort === undefined) return;
      connections.set(socket, {
        server: { address: localAddress, port: localPort },
        peer: { address: remoteAddress, port: remotePort },
      });
    },
    sessionBehind,
    async refuseAgents({ socket }, { name, bearer }) {
      const session = sessionBehind(socket);
      if (session === undefined) return;
      const error = toDisguiseError(`${name} was tried`, session, undefined);
      await options.audit({
        name,
        bearer,
        code: error.code,
        ...(sessionOfMark(session) === undefined ? {} : { sessionId: session }),
      });
      throw error;
    },
  };
}
