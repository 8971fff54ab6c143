import type { ActionCall, ApprovalNotice, Caller, Envelope } from './call.ts';
import { toAuditInput } from './audit-input.ts';
import { requireCallable, requireNoDisguise, requireSurface, toCaller } from './caller.ts';
import type { Catalog } from './catalog.ts';
import { type Confirmations, isReadBack, liftConfirmation } from './confirmation.ts';
import { toInputDigest, withoutFields } from './digest.ts';
import { noGrant } from './approval-errors.ts';
import type { ActionEngine, EngineOptions, Identity } from './engine.ts';
import { refuseOmitted, requireTarget, toTargetName } from './forwarding.ts';
import { KaiwuError, toWireError, type WireError } from './errors.ts';
import { createIdempotency, MAX_KEY } from './idempotency.ts';
import type { GrantAnswer } from './grants.ts';
import { invalidInput, parseInput } from './input.ts';
import { type Answered, resolvePolicy } from './policy.ts';
import type { ActionPorts } from './ports/index.ts';
import { runInTime } from './run-in-time.ts';
import { redact, redactText } from './redact.ts';
import { withoutTransient } from './transient.ts';
import { resolveSession } from './resolve-session.ts';
import type { AnyAction, Precondition } from './spec.ts';
import { toToolName } from './spec.ts';

/** A call that passed every check and may run or be filed. */
export interface ReadyCall {
  action: AnyAction;
  input: Record<string, unknown>;
  inputDigest: string;
  sessionId?: string;
  caller: Caller;
  /** What the action's precondition found, where the call was approved. */
  reviewed?: Precondition;
}

/** The same, before the policy's gate. */
export type CheckedCall = ReadyCall & { approval: Answered<boolean> };

/** What a call left behind for its audit row, as far as it came. */
interface Trace {
  actionId: string;
  calledAs: string;
  action?: AnyAction;
  caller: Caller;
  input: unknown;
  /** Set once `input` is the normalised one. */
  inputDigest?: string;
  sessionId?: string;
  grantId?: string;
  approvalId?: string;
}

export interface ExecutorOptions extends Omit<EngineOptions, 'actions' | 'ports'> {
  catalog: Catalog;
  ports: ActionPorts;
  /** Takes one use of a grant that covers the call. */
  useGrant(ready: ReadyCall): Promise<GrantAnswer>;
  /** Whether a grant would cover the call. */
  seeGrant(ready: ReadyCall): Promise<GrantAnswer>;
  confirmations: Confirmations;
  /** Files a request in place of running. Under the same key it is the same request. */
  file(ready: ReadyCall, nearest: GrantAnswer['nearest'], key?: string): Promise<ApprovalNotice>;
  /** What was filed under a key, if anything was. */
  findFiled(ready: ReadyCall, key: string): Promise<ApprovalNotice | undefined>;
}

export interface Executor extends Pick<ActionEngine, 'execute'> {
  /** Runs a checked call and nothing else: no policy, no audit. For approved requests and option sources. */
  perform(
    action: AnyAction,
    input: Record<string, unknown>,
    caller: Caller,
    signal: AbortSignal,
    reviewed?: Precondition,
  ): Promise<Envelope>;
  /** Finds, judges, validates and resolves a call without running it. @throws what such a call would be refused with */
  check(caller: Caller, name: string, raw: unknown): Promise<CheckedCall>;
  /** Runs what a person approved, whoever waits for it, and writes its own audit row. */
  runApproved(ready: ReadyCall, artifactId: string): Promise<Envelope>;
}

/** The pipeline: authenticate, find, policy, validate, session, approve, run, audit. The only place that decides. */
export function createExecutor(options: ExecutorOptions): Executor {
  const { catalog, ports, runtime } = options;
  const once = createIdempotency(options.idempotency, options.ownerId);

  /** Finds, judges and validates. `wrapper` is the forwarding action that named this one, if any. */
  async function prepare(
    trace: Trace,
    name: string,
    raw: unknown,
    wrapper?: AnyAction,
  ): Promise<CheckedCall> {
    const { caller } = trace;
    const { action, alias } = catalog.find(name);
    if (wrapper !== undefined) requireTarget(wrapper, action);
    trace.action = action;
    trace.actionId = action.id;
    trace.input = raw;
    const answer = resolvePolicy(await ports.policies.get(), action, caller.surface, caller.scope);
    requireCallable(action, answer);
    refuseOmitted(action, alias?.omit ?? [], raw);
    const input = parseInput(action, catalog.manifest(action.id), raw);
    if (action.forward !== undefined) {
      return prepare(trace, toTargetName(action.forward, input), input[action.forward.inputField], action);
    }
    trace.input = input;
    // What a stranger's tool did is known by the session whose agent called it.
    const own = action.managed === undefined ? undefined : caller.scope.sessionId;
    const sessionId = (await resolveSession(action, input, caller, ports.sessions)) ?? own;
    if (sessionId !== undefined) trace.sessionId = sessionId;
    await action.admit?.({ caller, sessionId: sessionId ?? caller.scope.sessionId, ports });
    const inputDigest = toInputDigest(runtime, action.id, withoutFields(input, action.secrets));
    // What is kept nowhere could be guessed from a digest that the audit keeps.
    if (action.transient === undefined) trace.inputDigest = inputDigest;
    const { approval } = answer;
    return {
      action,
      input,
      inputDigest,
      caller,
      approval,
      ...(sessionId === undefined ? {} : { sessionId }),
    };
  }

  async function perform(
    action: AnyAction,
    input: Record<string, unknown>,
    caller: Caller,
    signal: AbortSignal,
    reviewed?: Precondition,
  ): Promise<Envelope> {
    const call = { input, caller, ports, ...(reviewed === undefined ? {} : { reviewed }) };
    const run = (within: AbortSignal) => action.run({ ...call, signal: within });
    const output = action.output.parse(await runInTime(action, caller, signal, run));
    return { status: 'ok', output };
  }

  const settle = (
    call: ActionCall,
    ready: CheckedCall,
    trace: Trace,
    signal: AbortSignal,
    willRun?: () => Promise<void>,
  ): Promise<Envelope> =>
    outcomeOf(call, async () => {
      const { action, input, caller, approval } = ready;
      const spoken = isReadBack(action, caller);
      // A floor is nobody's to waive beforehand.
      const ask = (look: typeof options.useGrant): Promise<GrantAnswer> | GrantAnswer =>
        approval.from === 'floor' ? {} : look(ready);
      if (spoken && call.confirmation !== undefined) {
        const done = await options.confirmations.redeem(ready, {
          code: call.confirmation,
          signal,
          note: (artifactId) => {
            trace.approvalId = artifactId;
          },
          run: (fresh) =>
            outcomeOf(call, async () => {
              trace.grantId = approval.value ? (await ask(options.useGrant)).used?.grantId : undefined;
              if (approval.value && trace.grantId === undefined) throw noGrant(action.id);
              return perform(action, fresh.input, fresh.caller, new AbortController().signal);
            }),
        });
        if (done !== undefined) return done;
      }
      if (approval.value) {
        const { used, nearest } = await ask(spoken ? options.seeGrant : options.useGrant);
        if (used === undefined) {
          const notice = await options.file(ready, nearest, call.idempotencyKey);
          return { status: 'approval_required', approval: notice };
        }
        if (!spoken) trace.grantId = used.grantId;
      }
      if (spoken) return options.confirmations.readBack(ready);
      await willRun?.();
      return perform(action, input, caller, signal);
    });

  async function outcomeOf(call: ActionCall, work: () => Promise<Envelope>): Promise<Envelope> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof KaiwuError)) options.onError(error, call);
      // An error names what was received; pasted into the wrong field, that may be a credential.
      return { status: 'error', error: redact(toWireError(error)) as unknown as WireError };
    }
  }

  async function run(
    call: ActionCall,
    identity: Identity,
    trace: Trace,
    signal: AbortSignal,
  ): Promise<Envelope> {
    requireSurface(trace.caller);
    const ready = await prepare(trace, call.actionId, call.input);
    requireNoDisguise(ready, identity);
    const { action, caller, inputDigest: digest } = ready;
    // An agent that calls with a person's credential is still the agent of its session.
    if (action.admit !== undefined && caller.surface === 'agent' && caller.scope.sessionId === undefined) {
      const behind = identity.agentSession?.();
      if (behind !== undefined) await action.admit({ caller, sessionId: behind, ports });
    }
    const key = call.idempotencyKey;
    if (key === undefined || action.effect === 'read') return settle(call, ready, trace, signal);
    if (key.length === 0 || key.length > MAX_KEY) {
      const message = `must have 1 to ${MAX_KEY} characters`;
      throw invalidInput(action.id, [{ path: 'idempotencyKey', message }]);
    }
    // What is read back is made once by its code; a stored answer would keep the code, and stand in the way of the yes.
    if (isReadBack(action, caller)) return settle(call, ready, trace, signal);
    return once({
      key: { tokenId: caller.tokenId, key },
      digest,
      idempotent: action.idempotent,
      asks: ready.approval.value,
      findFiled: async () => {
        const approval = await options.findFiled(ready, key);
        return approval && { status: 'approval_required', approval };
      },
      // A caller that is gone comes back with its key for the outcome, so the work is not given up with the connection.
      run: (willRun) => settle(call, ready, trace, new AbortController().signal, willRun),
      isPartial: action.transient !== undefined,
      toStored: (envelope) => redact(withoutTransient(envelope, action)) as unknown as Envelope,
    });
  }

  async function audit(trace: Trace, envelope: Envelope, startedMs: number, at: string): Promise<void> {
    const { caller, action, sessionId, calledAs, actionId } = trace;
    await ports.audit.append({
      at,
      surface: redactText(String(caller.surface)),
      client: redactText(caller.client),
      tokenId: caller.tokenId,
      ...(caller.deviceId === undefined ? {} : { deviceId: caller.deviceId }),
      ...(sessionId === undefined ? {} : { sessionId }),
      actionId,
      ...(calledAs === actionId || calledAs === toToolName(actionId) ? {} : { calledAs }),
      ...(action === undefined ? {} : { effect: action.effect }),
      ...toAuditInput(runtime, trace),
      outcome: envelope.status,
      ...(envelope.status === 'error' ? { code: envelope.error.code } : {}),
      durationMs: Math.round((runtime.monotonicMs() - startedMs) * 10) / 10,
      ...(envelope.status === 'approval_required' ? { approvalId: envelope.approval.artifactId } : {}),
      ...(trace.approvalId === undefined ? {} : { approvalId: trace.approvalId }),
      ...(trace.grantId === undefined ? {} : { grantId: trace.grantId }),
    });
  }

  return {
    perform,
    check: (caller, name, raw) => prepare({ actionId: name, calledAs: name, caller, input: raw }, name, raw),
    async runApproved(ready, artifactId) {
      const { action, input, caller, sessionId } = ready;
      const startedMs = runtime.monotonicMs();
      const at = runtime.now().toISOString();
      const call: ActionCall = { actionId: action.id, input, context: caller };
      const trace: Trace = {
        actionId: action.id,
        calledAs: action.id,
        action,
        caller,
        input,
        approvalId: artifactId,
        ...(sessionId === undefined ? {} : { sessionId }),
      };
      const envelope = await outcomeOf(call, () =>
        perform(action, input, caller, new AbortController().signal, ready.reviewed),
      );
      await audit(trace, envelope, startedMs, at).catch((error: unknown) => options.onError(error, call));
      return envelope;
    },
    async execute(given, identity, signal) {
      if (identity === undefined) return { status: 'error', error: toWireError(notAuthenticated()) };
      const call = liftConfirmation(given);
      const startedMs = runtime.monotonicMs();
      const at = runtime.now().toISOString();
      const name = redactText(String(call.actionId).slice(0, 120));
      const trace: Trace = {
        actionId: name,
        calledAs: name,
        caller: toCaller(call, identity),
        input: call.input,
      };
      const envelope = await outcomeOf(call, () => run(call, identity, trace, signal));
      await audit(trace, envelope, startedMs, at).catch((error: unknown) => options.onError(error, call));
      return envelope;
    },
  };
}

const notAuthenticated = () =>
  new KaiwuError('not_authenticated', 'The call carried no valid token.', {
    hint: 'Run `kaiwu auth login` on this machine.',
  });
