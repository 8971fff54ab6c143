/**
 * Environment variable of every agent process, and so of what it starts: the session that it works in. Kaiwu's own programs
 * call as surface `agent` where they find it; the backend looks for it behind a connection from its own machine.
 */
export const AGENT_SESSION_VARIABLE = 'KAIWU_AGENT_SESSION';
