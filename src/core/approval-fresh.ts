import type { Approval } from './approval.ts';
import { toBinding, toReadBinding } from './approval-binding.ts';
import { toCallerAgain } from './approval-card.ts';
import { stale } from './approval-errors.ts';
import type { Caller } from './call.ts';
import { requireCallable } from './caller.ts';
import type { Catalog } from './catalog.ts';
import { toInputDigest } from './digest.ts';
import type { EngineOptions } from './engine.ts';
import { toWireError } from './errors.ts';
import type { ReadyCall } from './executor.ts';
import { parseInput } from './input.ts';
import type { PolicyDocument } from './policy.ts';
import { resolvePolicy } from './policy.ts';
import type { SessionsPort } from './ports/sessions.ts';
import type { AnyAction, Precondition } from './spec.ts';
import { toWords } from './spoken.ts';

export interface FreshnessOptions extends Pick<EngineOptions, 'runtime'> {
  catalog: Catalog;
  getPolicy(): Promise<PolicyDocument>;
  sessions: SessionsPort;
  /** What an approval of the call is bound to beside its input. @throws what the call itself would be refused with */
  look(call: Pick<ReadyCall, 'action' | 'input' | 'caller'>): Promise<Precondition | undefined>;
}

/** Whether what was approved is still what would run. */
export function createFreshness(options: FreshnessOptions) {
  const { catalog, runtime, sessions } = options;

  /** `words`: what was heard; without them what would be said now. */
  async function bindingOf(
    approval: Omit<Approval, 'boundTo'>,
    precondition: Precondition | undefined,
    words?: string,
  ): Promise<string> {
    const { actionId, sessionId, confirmation, input, requester } = approval;
    const manifest = catalog.manifest(actionId);
    const [session] = sessionId === undefined ? [] : await sessions.findByPrefix(sessionId, 1);
    const binding = toBinding(runtime, manifest, session, precondition);
    if (confirmation === undefined) return binding;
    const policy = await options.getPolicy();
    return toReadBinding(runtime, binding, {
      words: words ?? toWords(manifest, input, session, confirmation.language),
      asks: resolvePolicy(policy, manifest, requester.surface, requester.scope).approval.value,
    });
  }

  /** The approved object must still be what was reviewed, and allowed today. */
  async function requireFresh(approval: Approval): Promise<ReadyCall> {
    const { actionId, inputDigest, sessionId } = approval;
    const { action } = catalog.find(actionId);
    if (toInputDigest(runtime, actionId, approval.input) !== inputDigest) throw stale(approval, 'its input');
    const caller = toCallerAgain(approval);
    const reviewed = await lookAgain(approval, action, caller);
    if ((await bindingOf(approval, reviewed)) !== approval.boundTo) {
      const what = sessionId === undefined ? 'the action' : 'the action or the session';
      const more = reviewed === undefined ? what : `${what}, or what it works on,`;
      throw stale(approval, approval.confirmation === undefined ? more : `${what}, or the policy,`);
    }
    const { surface, scope } = approval.requester;
    requireCallable(action, resolvePolicy(await options.getPolicy(), action, surface, scope));
    const input = parseInput(action, catalog.manifest(actionId), approval.input);
    return {
      action,
      input,
      inputDigest,
      caller,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(reviewed === undefined ? {} : { reviewed }),
    };
  }

  /** What is no longer there has changed; what cannot be looked at now may be there yet. */
  async function lookAgain(
    approval: Approval,
    action: AnyAction,
    caller: Caller,
  ): Promise<Precondition | undefined> {
    try {
      return await options.look({ action, input: approval.input, caller });
    } catch (error) {
      const { message, retryable } = toWireError(error);
      throw retryable ? error : stale(approval, `what it works on (${message})`);
    }
  }

  return { bindingOf, requireFresh };
}
