import { KaiwuError } from '../../core/errors.ts';
import type { SessionControlPort } from '../../core/ports/sessions.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { BackendStore } from '../store/store.ts';
import { isAgent, refuseRaise } from './escalation.ts';
import { getOpen } from './get-open.ts';
import { ownFreedom, parentOf, toTreeLimit } from './lineage.ts';
import type { StartNew } from './new-session.ts';

/** A second session that goes on with the conversation of the first, in the same place. */
export function createFork(options: {
  store: BackendStore;
  runtime: Pick<Runtime, 'newId'>;
  startNew: StartNew;
}): SessionControlPort['fork'] {
  const { store, runtime, startNew } = options;
  return async (sessionId, { title }, caller, signal) => {
    const from = await getOpen(store.sessions, sessionId);
    const agents = (await store.machines.get(from.machineId))?.agents ?? [];
    const agent = agents.find((each) => each.agentId === from.agentId);
    if (agent?.features?.includes('fork') === false) throw cannotFork(from.agentId, agents);
    const {
      agentId,
      machineId,
      directory,
      additionalDirectories,
      mcpServers,
      permissionMode,
      modelId,
      tags,
    } = from;
    const parent = await parentOf(store.sessions, from.parentSessionId, caller).catch((error: unknown) => {
      // Beside a session whose own parent was put away there is still room.
      if (isAgent(caller)) throw error;
      return undefined;
    });
    const places = additionalDirectories === undefined ? {} : { additionalDirectories };
    // It is where its conversation is already, which the caller reaches: no place is given away.
    if (isAgent(caller))
      refuseRaise(caller, permissionMode, await ownFreedom(store, caller), 'the new session');
    return startNew(
      {
        sessionId: runtime.newId('sess'),
        agentId,
        machineId,
        directory,
        permissionMode,
        tags,
        ...places,
        ...(mcpServers === undefined ? {} : { mcpServers }),
        ...(modelId === undefined ? {} : { modelId }),
        ...(title === undefined ? {} : { title }),
        ...(parent === undefined ? {} : { parentSessionId: parent.sessionId }),
        forkedFrom: { sessionId, seq: from.lastSeq },
        ...toTreeLimit(caller),
      },
      undefined,
      caller,
      signal,
    );
  };
}

function cannotFork(agentId: string, agents: { agentId: string; features?: string[] }[]): KaiwuError {
  const able = agents.filter((each) => each.features?.includes('fork')).map((each) => each.agentId);
  return new KaiwuError('unsupported', `${agentId} cannot go on with a conversation in a second session.`, {
    hint: `Start a new session instead.${able.length === 0 ? '' : ` Agents there that can: ${able.join(', ')}.`}`,
    details: { agentId, able },
  });
}
