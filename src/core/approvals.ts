import type { Approval } from './approval.ts';
import { createFreshness, type FreshnessOptions } from './approval-fresh.ts';
import { isOwn, reaches, toNotice, toRequester, toShown, toSummary } from './approval-card.ts';
import {
  alreadyDecided,
  approvalNotFound,
  beyondScope,
  neverDecides,
  notYours,
  ownRequest,
  requireNoSecrets,
  requireSameDecision,
  SELF_DECISION_RULE,
  tooManyPending,
} from './approval-errors.ts';
import type { ApprovalNotice, Caller, Envelope } from './call.ts';
import { CallWithdrawn } from './call.ts';
import { toArtifactId } from './digest.ts';
import type { EngineOptions } from './engine.ts';
import { fromWireError, toWireError } from './errors.ts';
import type { Executor, ReadyCall } from './executor.ts';
import type { GrantAnswer } from './grants.ts';
import { requireSameInput } from './idempotency.ts';
import { invalidInput } from './input.ts';
import { DEFAULT_SETTINGS } from './policy.ts';
import type { ApprovalsPort } from './ports/governance.ts';
import { redact } from './redact.ts';
import { isReachable } from './resolve-session.ts';
import { waitSettled } from './wait-settled.ts';

export interface ApprovalsOptions
  extends FreshnessOptions,
    Pick<EngineOptions, 'approvalStore' | 'ownerId' | 'onApprovalChange'> {
  check: Executor['check'];
  /** Runs what was approved and writes its audit row. */
  runApproved(ready: ReadyCall, artifactId: string): Promise<Envelope>;
}

export interface Approvals extends ApprovalsPort {
  /** Files a gated call and says what became of it. @throws rate_limited when too many of the caller's are pending */
  file(ready: ReadyCall, nearest?: GrantAnswer['nearest'], key?: string): Promise<ApprovalNotice>;
  /** What was filed under an idempotency key, if anything was. */
  findFiled(ready: ReadyCall, key: string): Promise<ApprovalNotice | undefined>;
  /** As it is stored, for what works on it. */
  load(artifactId: string): Promise<Approval>;
  /** Files what is read back to a person, who has until `expiresAt` to agree. @throws rate_limited */
  fileRead(
    ready: ReadyCall,
    heard: Required<Pick<Approval, 'confirmation' | 'triesLeft' | 'expiresAt'>>,
  ): Promise<{ approval: Approval; notice: ApprovalNotice }>;
  /** Takes the requester's own yes to what was read back, and runs it. Undefined when it was decided otherwise meanwhile. */
  accept(
    approval: Approval,
    by: Caller,
    run: (ready: ReadyCall) => Promise<Envelope>,
  ): Promise<Envelope | undefined>;
  /** Marks what an earlier process left in the middle; `resume` then carries out what had not begun. */
  recover(): Promise<void>;
  resume(): Promise<void>;
}

/** The state machine of approvals. Every move is the store's compare-and-set; the winner of a move does what follows. */
export function createApprovals(options: ApprovalsOptions): Approvals {
  const { approvalStore: store, catalog, runtime, ownerId, sessions } = options;
  const { bindingOf, requireFresh } = createFreshness(options);

  async function load(artifactId: string): Promise<Approval> {
    const approval = await store.get(artifactId);
    if (approval === undefined) throw approvalNotFound(artifactId);
    if (approval.status !== 'pending' || !isOver(approval)) return approval;
    await store.move(artifactId, 'pending', 'expired');
    return (await store.get(artifactId)) ?? approval;
  }

  /** A token for one session sees what that session asked for, and those below it; the rest is not there for it. */
  async function loadFor(artifactId: string, caller: Caller | undefined): Promise<Approval> {
    const approval = await load(artifactId);
    const { sessionId } = approval.requester.scope ?? {};
    if (await isReachable(sessions, sessionId, caller?.scope.sessionId)) return approval;
    throw approvalNotFound(artifactId);
  }

  const isOver = (approval: Approval): boolean => approval.expiresAt <= runtime.now().toISOString();

  async function insert(
    ready: ReadyCall,
    more: Partial<Pick<Approval, 'reason' | 'nearestGrant' | 'confirmation' | 'triesLeft' | 'expiresAt'>>,
    key?: string,
  ) {
    const { action, caller, input, inputDigest, sessionId } = ready;
    requireNoSecrets(action, input);
    const { maxPendingApprovals, approvalHours } = {
      ...DEFAULT_SETTINGS,
      ...(await options.getPolicy()).settings,
    };
    const precondition = await options.look(ready);
    const now = runtime.now();
    const card: Omit<Approval, 'boundTo'> = {
      artifactId: key === undefined ? runtime.newUuid() : toArtifactId(runtime, caller.tokenId, key),
      actionId: action.id,
      summary: toSummary(
        action.title.en,
        { ...precondition, ...redact(input, action.secrets) },
        Object.keys(action.input.shape),
      ),
      status: 'pending',
      input,
      inputDigest,
      requester: toRequester(caller),
      ...(sessionId === undefined ? {} : { sessionId }),
      count: 1,
      createdAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + approvalHours * 3_600_000).toISOString(),
      ...more,
    };
    const asked: Approval = {
      ...card,
      boundTo: await bindingOf(card, precondition, card.confirmation?.words),
    };
    const { approval, pending } = await store.insertOrFold(asked, maxPendingApprovals, now.toISOString());
    if (approval === undefined) throw tooManyPending(pending, maxPendingApprovals);
    // Approvals are kept for longer than keys are.
    if (key !== undefined) requireSameInput(key, approval.inputDigest, inputDigest);
    return { approval, remaining: Math.max(0, maxPendingApprovals - pending) };
  }

  async function requireDecider(approval: Approval, caller: Caller): Promise<void> {
    if (caller.surface === 'agent' || caller.surface === 'voice') throw neverDecides(caller);
    if (!(await reaches(caller.scope, approval, sessions))) throw beyondScope(approval);
    if (caller.surface !== 'mcp' || !isOwn(approval, caller)) return;
    const { rules } = await options.getPolicy();
    if (rules[SELF_DECISION_RULE]?.mcp?.enabled !== true) throw ownRequest(approval);
  }

  /** Runs an approved request if this caller wins the lease. Undefined when another one has it. */
  async function carryOut(
    approval: Approval,
    maxWaitSeconds?: number,
    run = (ready: ReadyCall) => options.runApproved(ready, approval.artifactId),
  ): Promise<Envelope | undefined> {
    const { artifactId } = approval;
    if (!(await store.move(artifactId, 'approved', 'executing', {}, ownerId))) return undefined;
    const result = await requireFresh(approval).then(
      (ready) => run({ ...ready, caller: { ...ready.caller, maxWaitSeconds } }),
      (error: unknown): Envelope => ({ status: 'error', error: toWireError(error) }),
    );
    const stored = redact(result) as unknown as Envelope;
    await store.move(
      artifactId,
      'executing',
      result.status === 'ok' ? 'succeeded' : 'failed',
      { result: stored },
      ownerId,
    );
    return result;
  }

  async function withdraw(artifactId: string, caller: Caller, reason?: string): Promise<Approval> {
    const changes = reason === undefined ? {} : { decisionReason: reason };
    const approval = await loadFor(artifactId, caller);
    if (!isOwn(approval, caller) && caller.surface !== 'app' && caller.surface !== 'cli')
      throw notYours(artifactId);
    if (approval.status === 'canceled') return approval;
    if (!(await store.move(artifactId, 'pending', 'canceled', changes)))
      throw alreadyDecided(await load(artifactId));
    return load(artifactId);
  }

  const decisionBy = async (caller: Caller) => ({
    decidedAt: runtime.now().toISOString(),
    decidedBy: caller.client,
    policyVersion: (await options.getPolicy()).version,
  });

  const show = (approval: Approval): Approval => toShown(approval, catalog.known(approval.actionId)?.secrets);

  return {
    load,
    get: async (artifactId, caller) => show(await loadFor(artifactId, caller)),
    cancel: async (artifactId, caller) => show(await withdraw(artifactId, caller)),
    async file(ready, nearest, key) {
      const more = nearest === undefined ? {} : { nearestGrant: nearest };
      const { approval, remaining } = await insert(ready, more, key);
      return toNotice(approval, remaining);
    },
    async fileRead(ready, heard) {
      const { approval, remaining } = await insert(ready, heard);
      return { approval, notice: toNotice(approval, remaining) };
    },
    async accept(approval, by, run) {
      const changes = await decisionBy(by);
      if (!(await store.move(approval.artifactId, 'pending', 'approved', changes))) return undefined;
      return carryOut({ ...approval, ...changes }, by.maxWaitSeconds, run);
    },
    async findFiled(ready, key) {
      if ((await store.get(toArtifactId(runtime, ready.caller.tokenId, key))) === undefined) return undefined;
      const { approval, remaining } = await insert(ready, {}, key);
      return toNotice(approval, remaining);
    },
    async list(filter, page) {
      const { items, nextCursor } = await store.list(filter, page);
      const current = await Promise.all(items.map(({ artifactId }) => load(artifactId)));
      const wanted = current.filter(({ status }) => filter.status === undefined || status === filter.status);
      return { items: wanted.map(show), ...(nextCursor === undefined ? {} : { nextCursor }) };
    },
    async wait(artifactId, seconds, signal, caller) {
      await loadFor(artifactId, caller);
      try {
        const { onApprovalChange: onChange } = options;
        return show(await waitSettled({ artifactId, seconds, signal, load, onChange }));
      } catch (error) {
        // Hanging up is no word on the request; taking the call back is, if the request was the caller's own.
        const approval = await load(artifactId);
        if (
          signal.reason instanceof CallWithdrawn &&
          isOwn(approval, caller) &&
          approval.status === 'pending'
        ) {
          await withdraw(artifactId, caller, 'canceled by the caller');
        }
        throw error;
      }
    },
    async create({ actionId, input, reason }, caller) {
      if (catalog.find(actionId).action.forward !== undefined) {
        throw invalidInput(actionId, [
          { path: 'actionId', message: 'cannot be an action that calls others' },
        ]);
      }
      const ready = await options.check(caller, actionId, input);
      return show((await insert(ready, reason === undefined ? {} : { reason })).approval);
    },
    async decide(artifactId, decision, reason, caller) {
      const approval = await load(artifactId);
      await requireDecider(approval, caller);
      const to = decision === 'approve' ? 'approved' : 'denied';
      const changes = {
        ...(await decisionBy(caller)),
        ...(reason === undefined ? {} : { decisionReason: reason }),
      };
      const won = approval.status === 'pending' && (await store.move(artifactId, 'pending', to, changes));
      if (!won) return { approval: show(requireSameDecision(await load(artifactId), decision)) };
      const result =
        decision === 'approve'
          ? await carryOut({ ...approval, ...changes }, caller.maxWaitSeconds)
          : undefined;
      if (result?.status === 'error' && result.error.code === 'approval_stale')
        throw fromWireError(result.error);
      const decided = show(await load(artifactId));
      return result === undefined ? { approval: decided } : { approval: decided, result };
    },
    async recover() {
      for (const { artifactId } of await store.listExecutingExcept(ownerId)) {
        await store.move(artifactId, 'executing', 'unknown');
      }
    },
    async resume() {
      for (;;) {
        const { items } = await store.list({ status: 'approved' }, { limit: 100 });
        if (items.length === 0) return;
        for (const approval of items) {
          // A yes of yesterday is not one for ever, and one by voice is for its own call alone.
          if (isOver(approval) || approval.confirmation !== undefined)
            await store.move(approval.artifactId, 'approved', 'expired');
          else await carryOut(approval);
        }
      }
    },
  };
}
