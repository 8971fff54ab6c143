import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import { STRICTEST_MODE } from '../../core/freedom.ts';
import type { SessionControlPort, SpawnRequest } from '../../core/ports/sessions.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { AgentInfo, PermissionMode, Session } from '../../core/session.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { BackendStore } from '../store/store.ts';
import { watch } from '../watch.ts';
import { type Starts, toStartError } from '../work/starts.ts';
import { isAgent, refuseRaise } from './escalation.ts';
import { chooseMachine, toOfflineError } from './machines-of.ts';

/** Seconds past the limit of the start itself, so that its outcome comes first. */
const SLACK_SECONDS = 2;

export function createSpawn(options: {
  store: BackendStore;
  links: MachineLinks;
  starts: Starts;
  runtime: Pick<Runtime, 'newId'>;
  /** Agents of a linked machine, asked afresh. */
  freshAgents(machineId: string, caller: Caller): Promise<AgentInfo[]>;
}): SessionControlPort['spawn'] {
  const { store, links, starts } = options;

  async function requireAgent(machineId: string, request: SpawnRequest, caller: Caller): Promise<void> {
    const known = (await store.machines.get(machineId))?.agents ?? [];
    const usable = (agents: AgentInfo[]) =>
      agents.find((agent) => agent.agentId === request.agentId && agent.available);
    // Installed since the daemon last looked?
    const agents = usable(known) === undefined ? await options.freshAgents(machineId, caller) : known;
    const agent = usable(agents);
    if (agent === undefined) throw agentNotAvailable(request.agentId, agents);
    const mode = request.permissionMode;
    if (mode !== undefined && !agent.permissionModes.includes(mode)) {
      throw new KaiwuError('unsupported', `${agent.agentId} has no permission mode ${mode}.`, {
        hint: `It has: ${agent.permissionModes.join(', ')}.`,
        details: { permissionModes: agent.permissionModes },
      });
    }
  }

  /** What the agent that asks may do itself is the most that it can give. Only its token proves which session it is in. */
  async function refuseGift(permissionMode: PermissionMode, caller: Caller): Promise<void> {
    if (!isAgent(caller)) return;
    const { sessionId } = caller.scope;
    const own = sessionId === undefined ? undefined : await store.sessions.get(sessionId);
    refuseRaise(caller, permissionMode, own?.permissionMode ?? STRICTEST_MODE, 'the new session');
  }

  /** Waits for the row to leave `starting`: the start is asked for again if the link drops meanwhile. */
  async function untilStarted(session: Session, caller: Caller, signal: AbortSignal): Promise<Session> {
    const { sessionId, machineId } = session;
    const failure = starts.start(session).then(
      () => undefined,
      (error: unknown) => error,
    );
    const started = await watch(
      store.feed,
      {
        concerns: (entry) => entry.type === 'session.changed' && entry.sessionId === sessionId,
        read: () => store.sessions.get(sessionId),
        done: (row) => row.status !== 'starting',
      },
      starts.waitMs / 1000 + SLACK_SECONDS,
      signal,
    );
    if (started.status === 'starting') {
      if (!links.isLinked(machineId)) throw await toOfflineError(store.machines, machineId, caller);
      throw new KaiwuError('timeout', `session ${sessionId} is still starting.`);
    }
    if (started.status !== 'failed') return started;
    // The daemon's own error says more than the row; it was lost if the link dropped in between.
    const error = await failure;
    throw error instanceof KaiwuError && error.code === started.reason?.code ? error : toStartError(started);
  }

  return async (request, caller, signal) => {
    const machine = await chooseMachine(store.machines, request.machineId, caller);
    const { machineId } = machine;
    if (!links.isLinked(machineId)) throw await toOfflineError(store.machines, machineId, caller);
    await requireAgent(machineId, request, caller);
    const permissionMode = request.permissionMode ?? 'default';
    await refuseGift(permissionMode, caller);
    const session = await store.sessions.insert({
      sessionId: options.runtime.newId('sess'),
      agentId: request.agentId,
      machineId,
      directory: request.directory,
      permissionMode,
      ...(request.title === undefined ? {} : { title: request.title }),
      ...(request.modelId === undefined ? {} : { modelId: request.modelId }),
    });
    return untilStarted(session, caller, signal).catch((error: unknown) => {
      throw withSession(error, session.sessionId);
    });
  };
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

function withSession(error: unknown, sessionId: string): unknown {
  if (!(error instanceof KaiwuError)) return error;
  const { code, message, hint, details, cause } = error;
  return new KaiwuError(code, message, { hint, details: { ...details, sessionId }, cause });
}
