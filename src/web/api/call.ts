import type { ApprovalNotice } from '../../core/call.ts';
import type { WireError } from '../../core/errors.ts';
import { ask } from '../browser/http.ts';
import type { Actions } from './actions.generated.ts';

/** What a call came to. */
export type Outcome<O> =
  | { status: 'ok'; output: O }
  | { status: 'approval_required'; approval: ApprovalNotice }
  | { status: 'error'; error: WireError };

export interface CallOptions {
  /** Session that the call is about, where its input names none. */
  signal?: AbortSignal;
  /** Sent again with the same key, it is still one call. */
  idempotencyKey?: string;
}

/**
 * One action as the page calls it.
 * @public the generated types are made of it
 */
export type Call<I, O> = (input: I, options?: CallOptions) => Promise<Outcome<O>>;

/** What an action answers. */
export type OutputOf<C> = C extends (...args: never[]) => Promise<infer R>
  ? Extract<R, { status: 'ok' }> extends { output: infer O }
    ? O
    : never
  : never;

export const UNREACHABLE: WireError = {
  code: 'backend_unreachable',
  message: 'The backend does not answer.',
  retryable: true,
};

const listeners = new Set<() => void>();

/** Hears when the backend no longer takes the sign-in. */
export function onSignedOut(listener: () => void): void {
  listeners.add(listener);
}

/** Calls any action by its id, for what comes from the catalog itself. */
export async function callAction(
  id: string,
  input: unknown,
  { signal, idempotencyKey }: CallOptions = {},
): Promise<Outcome<Record<string, unknown>>> {
  const answer = await ask(
    'POST',
    `/v1/actions/${encodeURIComponent(id)}`,
    { input, context: { surface: 'app', client: 'app' } },
    { signal, headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey } },
  );
  if (answer === undefined) return { status: 'error', error: UNREACHABLE };
  const outcome = answer.body as Outcome<Record<string, unknown>> | undefined;
  if (outcome === undefined || typeof outcome.status !== 'string')
    return { status: 'error', error: UNREACHABLE };
  if (outcome.status === 'error' && outcome.error.code === 'not_authenticated') {
    for (const listener of listeners) listener();
  }
  return outcome;
}

const ID = Symbol('action id');

/** An object whose properties are the words of an action's id, callable at its end. */
function toAction(path: string[]): unknown {
  return new Proxy(() => undefined, {
    get: (_, name) => (name === ID ? path.join('.') : toAction([...path, String(name)])),
    apply: (_, __, [input, options]: [unknown, CallOptions | undefined]) =>
      callAction(path.join('.'), input, options),
  });
}

/** All actions, by the words of their ids: `actions.session.list({})`. */
export const actions = toAction([]) as Actions;

/** The id of one of `actions`. */
export const idOf = (action: unknown): string => (action as { [ID]: string })[ID];

/** An answer that was no success, as an error to be shown. */
export class CallError extends Error {
  readonly wire: WireError;
  constructor(wire: WireError) {
    super(wire.message);
    this.wire = wire;
  }
}

/** The output of a call. @throws CallError where there is none */
export async function must<O>(call: Promise<Outcome<O>>): Promise<O> {
  const outcome = await call;
  if (outcome.status === 'ok') return outcome.output;
  if (outcome.status === 'error') throw new CallError(outcome.error);
  const { summary, artifactId } = outcome.approval;
  throw new CallError({
    code: 'conflict',
    message: summary,
    details: { artifactId, waits: true },
    retryable: false,
  });
}
