import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import { STRICTEST_MODE } from '../../core/freedom.ts';
import type { SessionControlPort, SpawnRequest } from '../../core/ports/sessions.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { type AgentInfo, mayHaveMode } from '../../core/agent.ts';
import type { PermissionMode } from '../../core/session.ts';
import { toSpeakableText } from '../../core/visible-text.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { BackendStore } from '../store/store.ts';
import { ownFreedom, parentOf, refuseGift, toServers, toTreeLimit } from './lineage.ts';
import { chooseMachine, toOfflineError } from './machines-of.ts';
import type { StartNew } from './new-session.ts';

export function createSpawn(options: {
  store: BackendStore;
  links: MachineLinks;
  runtime: Pick<Runtime, 'newId'>;
  startNew: StartNew;
  /** Agents of a linked machine, asked afresh. */
  freshAgents(machineId: string, caller: Caller): Promise<AgentInfo[]>;
}): SessionControlPort['spawn'] {
  const { store, links, runtime, startNew } = options;

  async function requireAgent(
    machineId: string,
    agentId: string,
    mode: PermissionMode,
    caller: Caller,
  ): Promise<void> {
    const known = (await store.machines.get(machineId))?.agents ?? [];
    const usable = (agents: AgentInfo[]) =>
      agents.find((agent) => agent.agentId === agentId && agent.available);
    const first = usable(known);
    // Installed, added anew or started since the daemon last told?
    const isSure = first !== undefined && mayHaveMode(first, mode);
    const agents = isSure ? known : await options.freshAgents(machineId, caller);
    const agent = usable(agents);
    if (agent === undefined) throw agentNotAvailable(agentId, agents);
    if (!mayHaveMode(agent, mode)) {
      const { reason } = agent;
      throw new KaiwuError('unsupported', `${agent.agentId} has no permission mode ${mode}.`, {
        hint: `It has: ${agent.permissionModes.join(', ')}.${reason === undefined ? '' : ` Note: ${reason}`}`,
        details: { permissionModes: agent.permissionModes },
      });
    }
  }

  return async (request, caller, signal) => {
    const parent = await parentOf(store.sessions, request.parentSessionId, caller);
    const permissionMode = request.permissionMode ?? 'default';
    const wanted = request.machineId ?? parent?.machineId;
    const { machineId } = await chooseMachine(store.machines, wanted, caller);
    // A run was judged when it was asked for; what its session is told meanwhile is no matter of its own.
    const own =
      request.runId === undefined
        ? await ownFreedom(store, caller)
        : (parent?.permissionMode ?? STRICTEST_MODE);
    const mcpServers = toServers(request.mcpServers, parent);
    const within = refuseGift({ ...request, permissionMode, machineId }, parent, own, caller);
    if (!links.isLinked(machineId)) throw await toOfflineError(store.machines, machineId, caller);
    await requireAgent(machineId, request.agentId, permissionMode, caller);
    const sessionId = runtime.newId('sess');
    const { title, modelId, tags, additionalDirectories, environment, runId } = request;
    const names = Object.keys(environment ?? {});
    return startNew(
      {
        sessionId,
        agentId: request.agentId,
        machineId,
        directory: request.directory,
        permissionMode,
        startOptions: {
          ...toStartOptions(request, sessionId),
          ...(within === undefined ? {} : { within }),
        },
        ...toTreeLimit(caller),
        ...(title === undefined ? {} : { title }),
        ...(modelId === undefined ? {} : { modelId }),
        ...(tags === undefined ? {} : { tags: [...new Set(tags)] }),
        ...(additionalDirectories === undefined ? {} : { additionalDirectories }),
        ...(mcpServers === undefined ? {} : { mcpServers }),
        ...(names.length === 0 ? {} : { environmentNames: names.toSorted() }),
        ...(parent === undefined ? {} : { parentSessionId: parent.sessionId }),
        ...(runId === undefined ? {} : { runId }),
      },
      names.length === 0 ? undefined : environment,
      caller,
      signal,
    );
  };
}

function toStartOptions({ createDirectory, worktree, title }: SpawnRequest, sessionId: string) {
  return {
    ...(createDirectory === true ? { createDirectory } : {}),
    ...(worktree === undefined
      ? {}
      : { worktree: { ...worktree, branch: worktree.branch ?? defaultBranch(title, sessionId) } }),
  };
}

/** Letters of the title, and enough of the id that the next session of that title has its own branch. */
function defaultBranch(title: string | undefined, sessionId: string): string {
  const id = sessionId.replace('sess_', '');
  const slug = toSpeakableText(title ?? '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return slug === '' ? `kaiwu/${id.slice(0, 8)}` : `kaiwu/${slug}-${id.slice(0, 4)}`;
}

export function agentNotAvailable(agentId: string, agents: AgentInfo[]): KaiwuError {
  const agent = agents.find((each) => each.agentId === agentId);
  const others = agents.filter((each) => each.available).map((each) => each.agentId);
  const why = agent === undefined ? 'is not known there' : (agent.reason ?? 'is not installed there');
  const install = agent?.install === undefined ? '' : `Install it: ${agent.install}. `;
  return new KaiwuError('agent_not_available', `Agent ${JSON.stringify(agentId)} is not available: ${why}.`, {
    hint: `${install}Available there: ${others.join(', ') || 'none'}.`,
    details: { agentId, available: others },
  });
}
