import { KaiwuError } from './errors.ts';

/**
 * Environment variable of every agent process, and so of what it starts: the session that it works in. Kaiwu's own programs
 * call as surface `agent` where they find it; the backend looks for it behind a connection from its own machine.
 */
export const AGENT_SESSION_VARIABLE = 'KAIWU_AGENT_SESSION';

/** Stands for the session of a local process that has hidden which one it is: it changes nothing either. */
export const UNKNOWN_PROCESS = 'unknown process';

const SERVER_MARK = 'mcp:';

/** Stands for the session in the programs of managed MCP servers: what they do, agents have asked for, so they are no person. */
export const toServerMark = (server: string): string => `${SERVER_MARK}${server}`;

/** Session of a mark; undefined where it is none of an agent. */
export const sessionOfMark = (mark: string): string | undefined =>
  mark === UNKNOWN_PROCESS || mark.startsWith(SERVER_MARK) ? undefined : mark;

/** What an agent's process hears when it calls as somebody else. @param what of the attempt: `policy.set was called as cli` */
export function toDisguiseError(what: string, mark: string, surface: string | undefined): KaiwuError {
  const sessionId = sessionOfMark(mark);
  const { by, hint } = toStranger(mark, sessionId);
  return new KaiwuError('permission_escalation_denied', `${what} by ${by}.`, {
    hint,
    details: { ...(sessionId === undefined ? {} : { sessionId }), surface: surface ?? null },
  });
}

function toStranger(mark: string, sessionId: string | undefined): { by: string; hint: string } {
  if (sessionId !== undefined) {
    return {
      by: `a process of the agent in session ${sessionId}`,
      hint: 'An agent calls as surface agent, with the tools of its session. A person can do this from a shell of their own.',
    };
  }
  if (mark === UNKNOWN_PROCESS) {
    return {
      by: 'an unknown process of this machine',
      hint: 'The calling process must stay until it has its answer, and be one that the backend can see.',
    };
  }
  return {
    by: `a process of the MCP server ${mark.slice(SERVER_MARK.length)}`,
    hint: 'What a managed server does, an agent may have asked for. A person can do this from a shell of their own.',
  };
}
