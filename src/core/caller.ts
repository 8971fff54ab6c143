import { toDisguiseError } from './agent-mark.ts';
import type { ActionCall, Caller } from './call.ts';
import type { Identity } from './engine.ts';
import { KaiwuError } from './errors.ts';
import { toClientLabelAgain } from './normalise-client.ts';
import type { PolicyAnswer } from './policy.ts';
import { surfaceInScope } from './policy.ts';
import type { ActionData, Surface } from './spec.ts';
import { SURFACES } from './spec.ts';

/** Joins what the surface claims with what the token proves. A token for one session has no other default. */
export function toCaller({ context }: ActionCall, identity: Identity): Caller {
  const sessionId = identity.scope.sessionId ?? context.sessionId;
  return {
    surface: context.surface,
    client: toClientLabelAgain(String(context.surface), context.client),
    tokenId: identity.tokenId,
    tokenKind: identity.kind,
    scope: identity.scope,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(identity.deviceId === undefined ? {} : { deviceId: identity.deviceId }),
    ...(context.machineId === undefined ? {} : { machineId: context.machineId }),
    ...(context.language === undefined ? {} : { language: context.language }),
    ...(context.maxWaitSeconds === undefined ? {} : { maxWaitSeconds: context.maxWaitSeconds }),
  };
}

/** A missing or unknown surface, and one that the token may not speak for, fail closed. @throws forbidden */
export function requireSurface(caller: Caller): void {
  if (surfaceInScope(caller, caller.scope)) return;
  const allowed = caller.scope.surfaces ?? SURFACES;
  throw new KaiwuError(
    'forbidden',
    `This token may not call as surface ${JSON.stringify(caller.surface ?? null)}.`,
    {
      hint: `Call as one of: ${allowed.join(', ')}.`,
      details: { surface: caller.surface ?? null, allowed },
    },
  );
}

/** @throws action_disabled, with `reason` and `remedy` */
export function requireCallable(spec: ActionData, answer: PolicyAnswer): void {
  if (answer.reason === undefined) return;
  const remedy = toRemedy(spec, answer);
  throw new KaiwuError(
    'action_disabled',
    `${spec.id} cannot be called from ${answer.surface}: ${answer.reason}.`,
    {
      hint: remedy,
      details: { actionId: spec.id, surface: answer.surface, reason: answer.reason, remedy },
    },
  );
}

/** What would make a refused action callable, in a sentence. */
export function toRemedy(spec: ActionData, answer: PolicyAnswer): string {
  switch (answer.reason) {
    case 'unsupported_surface':
      return `It exists on: ${(Object.keys(spec.surfaces) as Surface[]).join(', ')}.`;
    case 'disabled_by_policy': {
      const rules = JSON.stringify({
        [answer.enabled.from === 'spec' ? spec.id : answer.enabled.from]: {
          [answer.surface]: { enabled: true },
        },
      });
      return `A person can enable it: kaiwu policy set --rules '${rules}'.`;
    }
    case 'outside_token_scope':
    case undefined:
      return 'Use a token whose scope includes it.';
    default:
      return spec.unavailable?.remedy ?? '';
  }
}

/**
 * An agent changes things as surface `agent` or not at all: with a person's credential in its hands it is still no person.
 * @throws permission_escalation_denied
 */
export function requireNoDisguise(
  { action, caller }: { action: ActionData; caller: Caller },
  { agentSession }: Identity,
): void {
  if (action.effect === 'read' || caller.surface === 'agent') return;
  const sessionId = agentSession?.();
  if (sessionId === undefined) return;
  throw toDisguiseError(`${action.id} was called as ${caller.surface}`, sessionId, caller.surface);
}
