import type { AgentInfo } from '../core/agent.ts';

/** An agent as daemons told of it before they knew states and agents of the person's own. */
export type ToldAgent = Omit<AgentInfo, 'state' | 'source'> & Partial<Pick<AgentInfo, 'state' | 'source'>>;

/** What an older daemon left out follows from whether the program is there. */
export const toAgentInfo = ({ state, source = 'built_in', ...agent }: ToldAgent): AgentInfo => ({
  ...agent,
  state: state ?? (agent.available ? 'ready' : 'not_installed'),
  source,
});
