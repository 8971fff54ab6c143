import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { AgentsPort, MachinesPort } from '../../core/ports/fleet.ts';
import type { AgentInfo } from '../../core/agent.ts';
import type { Session } from '../../core/session.ts';
import { agentsSchema } from '../link/frames.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import { parseFrame } from '../link/parse-frame.ts';
import type { BackendStore } from '../store/store.ts';
import type { AskMachine } from './ask-machine.ts';
import { chooseMachine } from './machines-of.ts';
import { agentNotAvailable } from './spawn.ts';

export function createMachines(options: { store: BackendStore }): MachinesPort {
  const { machines } = options.store;
  return {
    async list(caller) {
      return (await machines.list()).map((machine) => ({
        ...machine,
        current: machine.machineId === caller.machineId,
      }));
    },
    async recentPaths(filter) {
      return machines.recentPaths(filter);
    },
  };
}

/** Asks a daemon what it finds now, and keeps the answer. */
export function createFreshAgents(options: { store: BackendStore; ask: AskMachine }) {
  return async (machineId: string, caller: Caller): Promise<AgentInfo[]> => {
    const answer = await options.ask(machineId, 'agents.list', {}, caller);
    const { agents } = parseFrame(agentsSchema, answer, 'the answer to agents.list');
    await options.store.machines.setAgents(machineId, agents);
    return agents;
  };
}

export function createAgents(options: {
  store: BackendStore;
  links: MachineLinks;
  freshAgents: ReturnType<typeof createFreshAgents>;
}): AgentsPort {
  const { store, links } = options;

  const stored = async (machineId: string) => (await store.machines.get(machineId))?.agents ?? [];

  /** What a session's or a named agent's machine says of the agent. */
  async function find(
    of: { agentId?: string; sessionId?: string; machineId?: string },
    caller: Caller,
  ): Promise<{ agent?: AgentInfo; session?: Session }> {
    if (of.sessionId !== undefined) {
      const session = await store.sessions.get(of.sessionId);
      const agent = (await stored(session.machineId)).find((each) => each.agentId === session.agentId);
      return { agent, session };
    }
    if (of.agentId === undefined) {
      const message = 'is needed where no session is given';
      throw new KaiwuError('invalid_input', `agentId ${message}.`, {
        details: { issues: [{ path: 'agentId', message }] },
      });
    }
    const { machineId } = await chooseMachine(store.machines, of.machineId, caller);
    const agents = await stored(machineId);
    const agent = agents.find((each) => each.agentId === of.agentId);
    if (agent === undefined) throw agentNotAvailable(of.agentId, agents);
    return { agent };
  }

  return {
    async backends(wanted, caller) {
      const { machineId } = await chooseMachine(store.machines, wanted, caller);
      const agents = links.isLinked(machineId)
        ? await options.freshAgents(machineId, caller)
        : await stored(machineId);
      return { machineId, agents };
    },

    async models(of, caller) {
      const { agent, session } = await find(of, caller);
      const reported = session === undefined ? [] : await store.sessions.modelsOf(session.sessionId);
      return {
        models: reported.length > 0 ? reported : (agent?.models ?? []),
        ...(session?.modelId === undefined ? {} : { currentModelId: session.modelId }),
      };
    },

    async modes(of, caller) {
      const { agent, session } = await find(of, caller);
      return {
        modes: agent?.permissionModes ?? [],
        ...(session === undefined ? {} : { currentMode: session.permissionMode }),
      };
    },
  };
}
