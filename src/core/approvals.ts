import type { Approval } from './approval.ts';
import {
  alreadyDecided,
  approvalNotFound,
  neverDecides,
  notYours,
  ownRequest,
  requireSameDecision,
  SELF_DECISION_RULE,
  stale,
} from './approval-errors.ts';
import { waitSettled } from './wait-settled.ts';
import type { ApprovalNotice, Caller, Envelope } from './call.ts';
import { requireCallable } from './caller.ts';
import type { Catalog } from './catalog.ts';
import { toInputDigest } from './digest.ts';
import type { EngineOptions } from './engine.ts';
import { toWireError } from './errors.ts';
import type { Executor, ReadyCall } from './executor.ts';
import { invalidInput, parseInput } from './input.ts';
import type { PolicyDocument } from './policy.ts';
import { resolvePolicy } from './policy.ts';
import type { ApprovalsPort } from './ports/governance.ts';
import type { SessionsPort } from './ports/sessions.ts';
import { redact } from './redact.ts';
import { resolveSession } from './resolve-session.ts';
import { toShortText, toVisibleText } from './visible-text.ts';

/** How long a request waits for a decision. */
const EXPIRES_AFTER_MS = 24 * 60 * 60 * 1000;

export interface ApprovalsOptions
  extends Pick<EngineOptions, 'approvalStore' | 'runtime' | 'ownerId' | 'onApprovalChange'> {
  catalog: Catalog;
  getPolicy(): Promise<PolicyDocument>;
  sessions: SessionsPort;
  perform: Executor['perform'];
}

export interface Approvals extends ApprovalsPort {
  file(ready: ReadyCall, reason?: string): Promise<Approval>;
  /** Settles what an earlier process left between approval and record. */
  recover(): Promise<void>;
}

/** The state machine of approvals. Every move is the store's compare-and-set; the winner of a move does what follows. */
export function createApprovals(options: ApprovalsOptions): Approvals {
  const { approvalStore: store, catalog, runtime, ownerId } = options;

  async function load(artifactId: string): Promise<Approval> {
    const approval = await store.get(artifactId);
    if (approval === undefined) throw approvalNotFound(artifactId);
    if (approval.status !== 'pending' || !isOver(approval)) return approval;
    await store.move(artifactId, 'pending', 'expired');
    return (await store.get(artifactId)) ?? approval;
  }

  const isOver = (approval: Approval): boolean => approval.expiresAt <= runtime.now().toISOString();

  async function file(ready: ReadyCall, reason?: string): Promise<Approval> {
    const { action, caller, input, inputDigest, sessionId } = ready;
    const now = runtime.now();
    const approval: Approval = {
      artifactId: runtime.newUuid(),
      actionId: action.id,
      summary: toSummary(action.title.en, redact(input, action.secrets)),
      status: 'pending',
      input,
      inputDigest,
      requester: toRequester(caller),
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(reason === undefined ? {} : { reason }),
      createdAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + EXPIRES_AFTER_MS).toISOString(),
    };
    await store.insert(approval);
    return approval;
  }

  async function requireDecider(approval: Approval, caller: Caller): Promise<void> {
    if (caller.surface === 'agent' || caller.surface === 'voice') throw neverDecides(caller);
    const own = approval.requester.surface === 'mcp' && approval.requester.tokenId === caller.tokenId;
    if (caller.surface !== 'mcp' || !own) return;
    const { rules } = await options.getPolicy();
    if (rules[SELF_DECISION_RULE]?.mcp?.enabled !== true) throw ownRequest(approval);
  }

  /** The approved object must still be what was reviewed, and allowed today. */
  async function requireFresh(approval: Approval): Promise<void> {
    const { action } = catalog.find(approval.actionId);
    if (toInputDigest(runtime, action.id, approval.input) !== approval.inputDigest)
      throw stale(approval, 'its input');
    if (approval.sessionId !== undefined) {
      const [session] = await options.sessions.findByPrefix(approval.sessionId, 1);
      if (session?.sessionId !== approval.sessionId) throw stale(approval, 'its session');
    }
    requireCallable(action, resolvePolicy(await options.getPolicy(), action, approval.requester.surface));
  }

  /** Runs an approved request if this caller wins the lease. Undefined when another one has it. */
  async function carryOut(approval: Approval): Promise<Envelope | undefined> {
    if (!(await store.move(approval.artifactId, 'approved', 'executing', {}, ownerId))) return undefined;
    const { action } = catalog.find(approval.actionId);
    const result = await attempt(async () => {
      await requireFresh(approval);
      const input = parseInput(action, catalog.manifest(action.id), approval.input);
      return options.perform(action, input, toCallerAgain(approval), new AbortController().signal);
    });
    const status = result.status === 'ok' ? 'succeeded' : 'failed';
    const stored = redact(result) as unknown as Envelope;
    await store.move(approval.artifactId, 'executing', status, { result: stored }, ownerId);
    return result;
  }

  return {
    file,
    get: load,
    async list(filter, page) {
      const { items, nextCursor } = await store.list(filter, page);
      const current = await Promise.all(items.map(({ artifactId }) => load(artifactId)));
      const wanted = current.filter(({ status }) => filter.status === undefined || status === filter.status);
      return { items: wanted, ...(nextCursor === undefined ? {} : { nextCursor }) };
    },
    wait: (artifactId, seconds, signal) =>
      waitSettled({ artifactId, seconds, signal, load, onChange: options.onApprovalChange }),
    async create({ actionId, input, reason }, caller) {
      const { action } = catalog.find(actionId);
      if (action.forward !== undefined) {
        throw invalidInput(action.id, [
          { path: 'actionId', message: 'cannot be an action that calls others' },
        ]);
      }
      requireCallable(action, resolvePolicy(await options.getPolicy(), action, caller.surface, caller.scope));
      const parsed = parseInput(action, catalog.manifest(action.id), input);
      const sessionId = await resolveSession(action, parsed, caller, options.sessions);
      const inputDigest = toInputDigest(runtime, action.id, parsed);
      return file(
        { action, input: parsed, inputDigest, caller, ...(sessionId === undefined ? {} : { sessionId }) },
        reason,
      );
    },
    async decide(artifactId, decision, reason, caller) {
      const approval = await load(artifactId);
      await requireDecider(approval, caller);
      const to = decision === 'approve' ? 'approved' : 'denied';
      const changes = {
        decidedAt: runtime.now().toISOString(),
        decidedBy: caller.client,
        ...(reason === undefined ? {} : { decisionReason: reason }),
      };
      const won = approval.status === 'pending' && (await store.move(artifactId, 'pending', to, changes));
      if (!won) return { approval: requireSameDecision(await load(artifactId), decision) };
      const result = decision === 'approve' ? await carryOut({ ...approval, ...changes }) : undefined;
      const decided = await load(artifactId);
      return result === undefined ? { approval: decided } : { approval: decided, result };
    },
    async cancel(artifactId, caller) {
      const approval = await load(artifactId);
      const mine = approval.requester.tokenId === caller.tokenId;
      if (!mine && caller.surface !== 'app' && caller.surface !== 'cli') throw notYours(artifactId);
      if (approval.status === 'canceled') return approval;
      if (!(await store.move(artifactId, 'pending', 'canceled')))
        throw alreadyDecided(await load(artifactId));
      return load(artifactId);
    },
    async recover() {
      for (const approval of await store.listExecutingExcept(ownerId)) {
        await store.move(approval.artifactId, 'executing', 'unknown');
      }
      const { items } = await store.list({ status: 'approved' }, { limit: 200 });
      for (const approval of items) await carryOut(approval);
    },
  };
}

async function attempt(run: () => Promise<Envelope>): Promise<Envelope> {
  try {
    return await run();
  } catch (error) {
    return { status: 'error', error: toWireError(error) };
  }
}

function toRequester(caller: Caller): Approval['requester'] {
  const { surface, client, tokenId, deviceId, machineId, sessionId } = caller;
  return {
    surface,
    client,
    tokenId,
    ...(deviceId === undefined ? {} : { deviceId }),
    ...(machineId === undefined ? {} : { machineId }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

/** It runs with the requester's surface, machine and session, whoever decided. */
const toCallerAgain = ({ requester }: Approval): Caller => ({ ...requester, tokenKind: 'device', scope: {} });

function toSummary(title: string, input: Record<string, unknown>): string {
  const fields = Object.entries(input).map(
    ([key, value]) => `${key}: ${toShortText(JSON.stringify(value) ?? '', 60)}`,
  );
  const text = fields.length === 0 ? title : `${title} (${fields.join(', ')})`;
  return toShortText(toVisibleText(text, { singleLine: true }), 300);
}

/** What a gated call answers. */
export function toNotice(approval: Approval): ApprovalNotice {
  const { artifactId, actionId, summary, status, expiresAt } = approval;
  return {
    kind: 'approval_request_created',
    artifactId,
    actionId,
    summary,
    status,
    expiresAt,
    decideWith: `kaiwu approval request decide ${artifactId} approve`,
    waitWith: `kaiwu approval request get ${artifactId} --wait-seconds 45`,
  };
}
