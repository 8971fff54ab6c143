import { KaiwuError } from './errors.ts';

/**
 * Environment variable of every agent process, and so of what it starts: the session that it works in. Kaiwu's own programs
 * call as surface `agent` where they find it; the backend looks for it behind a connection from its own machine.
 */
export const AGENT_SESSION_VARIABLE = 'KAIWU_AGENT_SESSION';

/** Stands for the session of a local process that has hidden which one it is: it changes nothing either. */
export const UNKNOWN_PROCESS = 'unknown process';

/** What an agent's process hears when it calls as somebody else. @param what of the attempt: `policy.set was called as cli` */
export function toDisguiseError(what: string, agentSession: string, surface: string | undefined): KaiwuError {
  const known = agentSession !== UNKNOWN_PROCESS;
  const by = known
    ? `a process of the agent in session ${agentSession}`
    : 'an unknown process of this machine';
  return new KaiwuError('permission_escalation_denied', `${what} by ${by}.`, {
    hint: known
      ? 'An agent calls as surface agent, with the tools of its session. A person can do this from a shell of their own.'
      : 'The calling process must stay until it has its answer, and be one that the backend can see.',
    details: { ...(known ? { sessionId: agentSession } : {}), surface: surface ?? null },
  });
}
