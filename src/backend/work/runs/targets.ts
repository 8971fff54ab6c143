import type { Caller } from '../../../core/call.ts';
import { KaiwuError } from '../../../core/errors.ts';
import { STRICTEST_MODE } from '../../../core/freedom.ts';
import type { RunRequest } from '../../../core/ports/runs.ts';
import type { InputIssue } from '../../../core/input.ts';
import type { BackendTarget, RunIntent, WantedTarget } from '../../../core/run.ts';
import { type AgentInfo, mayHaveMode } from '../../../core/agent.ts';
import type { PermissionMode, Session } from '../../../core/session.ts';
import { refuseRaise } from '../../ports/escalation.ts';
import { agentNotAvailable } from '../../ports/spawn.ts';

const KIND_OF: Record<AgentInfo['source'], BackendTarget['kind']> = {
  built_in: 'builtInAgent',
  added: 'acpBackend',
};

/** A session's own agent as a target. */
export function ownTarget({ agentId }: Session, agents: readonly AgentInfo[]): BackendTarget {
  const source = agents.find((agent) => agent.agentId === agentId)?.source ?? 'built_in';
  return { kind: KIND_OF[source], agentId };
}

/**
 * The targets with the kind of each, filled in where it was left open. A kind that is not what the agent is is refused; one
 * mistake, and nothing is started. @throws invalid_input
 */
export function withKinds(targets: readonly WantedTarget[], agents: readonly AgentInfo[]): BackendTarget[] {
  const issues: InputIssue[] = [];
  const complete = targets.map(({ kind, agentId }, i): BackendTarget => {
    const agent = agents.find((each) => each.agentId === agentId);
    const right = agent === undefined ? (kind ?? 'acpBackend') : KIND_OF[agent.source];
    if (kind !== undefined && kind !== right) {
      const what = right === 'builtInAgent' ? 'comes with Kaiwu' : 'was added on its machine';
      const path = targets.length === 1 ? 'backendTarget.kind' : `backendTargets.${i}.kind`;
      issues.push({ path, message: `must be ${right}: agent ${agentId} ${what}`, received: kind });
    }
    return { kind: right, agentId };
  });
  if (issues.length === 0) return complete;
  throw new KaiwuError('invalid_input', `${issues.map((i) => `${i.path} ${i.message}`).join('; ')}.`, {
    hint: 'builtInAgent is an agent that comes with Kaiwu, acpBackend one that somebody added. Nothing was started.',
    details: { issues },
  });
}

/** Mode of a run whose caller names none: work that only looks may do no more than that. */
export const defaultMode = (intent: RunIntent, parent: Session): PermissionMode =>
  intent === 'delegate' ? parent.permissionMode : STRICTEST_MODE;

/**
 * The mode in which one target would run. An agent that cannot be held to reading is held to planning where it can be.
 * @throws agent_not_available | unsupported | permission_escalation_denied
 */
export function chooseMode(
  { intent, permissionMode }: Pick<RunRequest, 'intent' | 'permissionMode'>,
  { agentId }: BackendTarget,
  agents: AgentInfo[],
  parent: Session,
  refuseFreer: (mode: PermissionMode) => void,
): PermissionMode {
  const agent = agents.find((each) => each.agentId === agentId);
  if (agent === undefined || !agent.available) throw agentNotAvailable(agentId, agents);
  const wanted = permissionMode ?? defaultMode(intent, parent);
  const fits: PermissionMode[] = [
    wanted,
    ...(permissionMode === undefined && wanted === 'read_only' ? (['plan'] as const) : []),
  ];
  const mode = fits.find((each) => mayHaveMode(agent, each));
  if (mode === undefined) {
    throw new KaiwuError('unsupported', `${agentId} has no permission mode ${fits.join(' or ')}.`, {
      hint: `It has: ${agent.permissionModes.join(', ') || 'none'}. Name one of them, or take another agent.`,
      details: { agentId, permissionModes: agent.permissionModes },
    });
  }
  refuseFreer(mode);
  return mode;
}

/**
 * An agent's run is no freer than the session that it belongs to, nor than the agent's own: only its token proves which one
 * that is. @returns what refuses a freer mode
 */
export function freedomOf(
  caller: Caller,
  parent: Session,
  own: Session | undefined,
): (mode: PermissionMode | undefined) => void {
  const limits = [parent.permissionMode, own?.permissionMode ?? STRICTEST_MODE];
  return (mode) => {
    for (const limit of limits) refuseRaise(caller, mode, limit, `a run of ${parent.sessionId}`);
  };
}
