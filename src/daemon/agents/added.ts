import { PERMISSION_MODES, type PermissionMode } from '../../core/session.ts';
import type { AgentDefinition } from './agents.ts';
import { KNOWN_MODES } from './known-modes.ts';

/** An agent that the person added, in the words of their file. */
export interface AddedAgentInput {
  command: string;
  args: string[];
  env?: Record<string, string>;
  name?: string;
  modes?: Partial<Record<PermissionMode, string>>;
}

/** What an added agent is to the daemon. Modes that the person did not name are guessed by their names. */
export function toAddedAgent(agentId: string, added: AddedAgentInput): AgentDefinition {
  const { modes = {} } = added;
  return {
    agentId,
    name: added.name ?? agentId,
    command: added.command,
    args: added.args,
    inherit: [],
    env: {},
    secretEnv: added.env ?? {},
    source: 'added',
    modes: Object.fromEntries(
      PERMISSION_MODES.map((mode) => {
        const own = modes[mode];
        return [mode, own === undefined ? KNOWN_MODES[mode] : [own]];
      }),
    ),
    guessedModes: PERMISSION_MODES.filter((mode) => mode !== 'default' && modes[mode] === undefined),
    models: [],
  };
}
