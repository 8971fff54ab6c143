import type { Approval } from './approval.ts';
import { alreadyDecided, expired } from './approval-errors.ts';
import type { Approvals } from './approvals.ts';
import type { ActionCall, Caller, Envelope } from './call.ts';
import type { Catalog } from './catalog.ts';
import type { EngineOptions } from './engine.ts';
import { KaiwuError } from './errors.ts';
import type { ReadyCall } from './executor.ts';
import { fromJsonText } from './input.ts';
import type { SessionsPort } from './ports/sessions.ts';
import { toLanguage, toWords } from './spoken.ts';
import type { ActionData } from './spec.ts';
import { waitSeconds } from './wait.ts';

/** How long what was read back waits for a yes, milliseconds. */
const CONFIRMATION_MS = 120_000;
const TRIES = 3;
/** For so long a code that was used answers with its outcome, milliseconds. */
const REPLAY_MS = 24 * 3_600_000;
/** Vendors' tools put the code into the input, at most as deep as calls of calls go. */
const MAX_DEPTH = 4;

/** A voice is easily misheard, so whatever changes something is said back before it is done. */
export const isReadBack = ({ effect }: ActionData, { surface }: Caller): boolean =>
  surface === 'voice' && effect !== 'read';

/**
 * Takes the code out of the input of a voice's call, where a tool's parameters are all that a model can fill in. So neither
 * digest, audit nor action sees it. This is the only place that knows of the parameter.
 */
export function liftConfirmation(call: ActionCall): ActionCall {
  if (call.context.surface !== 'voice') return call;
  let code: unknown = call.confirmation;
  const lift = (given: unknown, depth: number): unknown => {
    const value = fromJsonText(given, 'object');
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return given;
    const { confirmation, ...rest } = value as Record<string, unknown>;
    code ??= confirmation;
    return depth > 0 && 'input' in rest ? { ...rest, input: lift(rest['input'], depth - 1) } : rest;
  };
  const input = lift(call.input, MAX_DEPTH);
  // Models fill optional parameters with nothing in several ways.
  const confirmation = code == null || code === '' ? undefined : toDigits(code);
  return { ...call, input, confirmation };
}

/** As it was heard: "12 34", 1234. What holds no digit is no code, and counts as a wrong one. */
const toDigits = (code: unknown): string => (JSON.stringify(code) ?? '').replaceAll(/\D/g, '').slice(0, 8);

export interface Confirmations {
  /** Files the call and answers what is to be read to the person, with the code that stands for a yes. */
  readBack(ready: ReadyCall): Promise<Envelope>;
  /**
   * Takes a yes. The first right code runs the call; the same one again answers the outcome of that run.
   * @returns undefined where nothing was read back that the code could mean, so the call is to be read back first
   * @throws confirmation_required (wrong code) | approval_stale | approval_already_decided | approval_expired | timeout
   */
  redeem(ready: ReadyCall, yes: Yes): Promise<Envelope | undefined>;
}

export interface Yes {
  code: string;
  signal: AbortSignal;
  /** Hears which request the code was held against, whatever comes of it. */
  note(artifactId: string): void;
  run(ready: ReadyCall): Promise<Envelope>;
}

/**
 * The step of a voice's call between "may run" and "runs": an approval that is bound to the words that were read, decided by the
 * call that brings their code. It says that the person was told, not who the person is, so it never stands in for the inbox:
 * where the policy asks a person, or a floor does, that is what happens. A grant waives the inbox and not the read-back, since it
 * was given for the call and not for what a microphone made of it; its use is taken when the call runs.
 */
export function createConfirmations(options: {
  approvals: Approvals;
  store: EngineOptions['approvalStore'];
  runtime: EngineOptions['runtime'];
  catalog: Catalog;
  sessions: Pick<SessionsPort, 'findByPrefix'>;
}): Confirmations {
  const { approvals, store, runtime, catalog, sessions } = options;

  /** A code is good for its requester and this very call. */
  const toCodeDigest = ({ caller, inputDigest }: ReadyCall, code: string): string =>
    runtime.sha256(JSON.stringify([caller.tokenId, inputDigest, code]));

  async function earlier({ action, caller }: ReadyCall): Promise<Approval[]> {
    const since = new Date(runtime.now().getTime() - REPLAY_MS).toISOString();
    const { tokenId, surface } = caller;
    const found = await store.listConfirmations({ tokenId, surface, actionId: action.id }, since);
    // What is over is told so by the loading.
    const load = async (approval: Approval) =>
      approval.status === 'pending' ? approvals.load(approval.artifactId) : approval;
    return Promise.all(found.map(load));
  }

  /** Never one that still answers for an earlier run of the same call. */
  function newCode(ready: ReadyCall, taken: ReadonlySet<string | undefined>): string {
    for (;;) {
      const number = Number.parseInt(runtime.sha256(runtime.newUuid()).slice(0, 12), 16);
      // No zero in front: what is said as a number must come back as the same digits.
      const code = String(1000 + (number % 9000));
      if (!taken.has(toCodeDigest(ready, code))) return code;
    }
  }

  /** What became of a request whose code was used, or that somebody else decided. */
  async function outcomeOf(approval: Approval, caller: Caller, signal: AbortSignal): Promise<Envelope> {
    const { artifactId, actionId } = approval;
    const now = await approvals.wait(artifactId, waitSeconds(undefined, caller, 45), signal, caller);
    if (now.result !== undefined) return now.result;
    if (now.status === 'expired') throw expired(now);
    if (now.status === 'denied' || now.status === 'canceled') throw alreadyDecided(now);
    if (now.status === 'unknown') throw unknownOutcome(now);
    throw new KaiwuError('timeout', `${actionId} was confirmed and has not ended yet.`, {
      hint: 'Call again with the same code to hear how it ended.',
      details: { artifactId, status: now.status },
    });
  }

  return {
    async readBack(ready) {
      const { action, input, sessionId, caller } = ready;
      const language = toLanguage(caller.language);
      const [session] = sessionId === undefined ? [] : await sessions.findByPrefix(sessionId, 1);
      const words = toWords(catalog.manifest(action.id), input, session, language);
      const code = newCode(
        ready,
        new Set((await earlier(ready)).map(({ confirmation }) => confirmation?.codeDigest)),
      );
      const expiresAt = new Date(runtime.now().getTime() + CONFIRMATION_MS).toISOString();
      const { notice } = await approvals.fileRead(ready, {
        confirmation: { words, language, codeDigest: toCodeDigest(ready, code) },
        triesLeft: TRIES,
        expiresAt,
      });
      return { status: 'approval_required', approval: notice, confirmation: { code, words, expiresAt } };
    },

    async redeem(ready, { code, signal, note, run }) {
      const { caller, inputDigest } = ready;
      const codeDigest = toCodeDigest(ready, code);
      const isRight = ({ confirmation }: Approval) => confirmation?.codeDigest === codeDigest;
      const all = await earlier(ready);
      const same = all.filter((approval) => approval.inputDigest === inputDigest);
      const used = same.find((approval) => approval.status !== 'pending' && isRight(approval));
      const open = used ?? same.find(({ status }) => status === 'pending');
      if (open === undefined) {
        const other = all.find(({ status }) => status === 'pending');
        // Whatever its digits: a code must not be tried out on another call than its own.
        if (other !== undefined) throw otherInput(other);
        return undefined;
      }
      note(open.artifactId);
      if (used !== undefined) return outcomeOf(used, caller, signal);
      // Taken before it is looked at, so that a crowd of calls has no more tries than one call.
      const tried = await store.takeTry(open.artifactId);
      if (!isRight(tried ?? open)) {
        const triesLeft = tried?.triesLeft ?? 0;
        if (tried?.triesLeft === 0) {
          await store.move(open.artifactId, 'pending', 'canceled', { decisionReason: 'wrong codes' });
        }
        throw wrongCode(open, triesLeft);
      }
      // Without a try left, others with the right code are at it.
      const ran = tried && (await approvals.accept(tried, caller, run));
      return ran ?? outcomeOf(open, caller, signal);
    },
  };
}

const wrongCode = ({ artifactId, actionId }: Approval, triesLeft: number) =>
  new KaiwuError(
    'confirmation_required',
    `The code is not the one that was read back for ${actionId}; nothing was done.`,
    {
      hint:
        triesLeft > 0
          ? 'Send the four digits of `confirmation.code` of the answer before, with the very same input.'
          : 'Call again without a code: it is read back anew, with a new code.',
      details: { artifactId, triesLeft },
    },
  );

const otherInput = ({ artifactId, actionId }: Approval) =>
  new KaiwuError('approval_stale', `What was read back for ${actionId} was another input than this one.`, {
    hint: 'Nothing was done. Call again without a code: this input is read back, with a code of its own.',
    details: { artifactId },
  });

const unknownOutcome = ({ artifactId, actionId }: Approval) =>
  new KaiwuError('conflict', `${actionId} was confirmed and cut off; its outcome is unknown.`, {
    hint: 'Look at what it was to change, then ask again if it is still needed.',
    details: { artifactId, outcome: 'unknown' },
  });
