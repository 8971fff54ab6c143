import { type CallContext, CallWithdrawn, type Envelope } from '../core/call.ts';
import type { BackendClient } from '../core/client.ts';
import { toWireError } from '../core/errors.ts';
import type { CatalogAnswer } from '../core/feed.ts';
import { follow } from './follow.ts';
import { createHttp, expectOk, type Http, type HttpOptions } from './http.ts';
import { notABackend } from './http-errors.ts';

export interface BackendClientOptions extends HttpOptions {
  /** Filled in where a call's own context is silent. */
  context?: Partial<CallContext>;
  /** 0 to 1; spreads the attempts to reconnect. */
  random(): number;
}

/**
 * Longest time for one call. Only a guard against a backend that hangs: how long a call may take is the backend's to say,
 * and no wait that it accepts is as long.
 */
const CALL_MS = 2 * 60 * 60 * 1000;
const READ_MS = 30_000;
const WITHDRAW_MS = 2000;

export function createBackendClient(options: BackendClientOptions): BackendClient {
  const http = createHttp(options);
  let calls = 0;
  return {
    url: http.url,
    async execute({ actionId, input, confirmation, context, idempotencyKey }, signal) {
      const callId = `${Math.trunc(options.random() * 1e12).toString(36)}-${calls++}`;
      const withdrawal = createWithdrawal(http, callId, signal);
      try {
        const answer = await http.send({
          method: 'POST',
          path: `/v1/actions/${encodeURIComponent(actionId)}`,
          body: {
            ...(input === undefined ? {} : { input }),
            ...(confirmation === undefined ? {} : { confirmation }),
            context: { ...options.context, ...context },
          },
          headers: {
            'x-kaiwu-call': callId,
            ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          },
          signal: withdrawal.signal,
          timeoutMs: CALL_MS,
        });
        return toEnvelope(http, answer.status, answer.json);
      } catch (error) {
        return { status: 'error', error: toWireError(error) };
      } finally {
        withdrawal.done();
      }
    },
    async catalog(surface, etag, signal) {
      const answer = await http.send({
        method: 'GET',
        path: '/v1/catalog',
        query: { surface },
        headers: etag === undefined ? {} : { 'if-none-match': etag },
        signal,
        timeoutMs: READ_MS,
      });
      if (answer.status === 304) return { unchanged: true };
      const catalog = expectOk(http, answer) as unknown as CatalogAnswer;
      return { unchanged: false, etag: String(answer.headers.etag ?? ''), catalog };
    },
    follow: (followOptions, onEntry) => follow(http, followOptions, onEntry, options.random),
  };
}

/**
 * A caller that takes its call back has that told to the backend before the connection goes: hanging up alone may as well be a
 * broken network, and must not end what somebody else is about to approve.
 */
function createWithdrawal(http: Http, callId: string, signal: AbortSignal | undefined) {
  const connection = new AbortController();
  const hangUp = () => connection.abort();
  const onAbort = () => {
    if (!(signal?.reason instanceof CallWithdrawn)) return hangUp();
    const path = `/v1/calls/${callId}/withdraw`;
    http.send({ method: 'POST', path, timeoutMs: WITHDRAW_MS }).then(hangUp, hangUp);
  };
  if (signal?.aborted) connection.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return { signal: connection.signal, done: () => signal?.removeEventListener('abort', onAbort) };
}

/** Refusals outside the pipeline (a bad token, a body too large) have the shape of an error envelope too. */
function toEnvelope(http: Http, status: number, json: unknown): Envelope {
  const kind = (json as { status?: unknown } | null)?.status;
  if (kind === 'ok' || kind === 'approval_required' || kind === 'error') return json as Envelope;
  throw notABackend(http.url, status, 'JSON of another kind');
}
