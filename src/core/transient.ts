import type { Envelope } from './call.ts';
import { HIDDEN } from './redact.ts';
import type { ActionData } from './spec.ts';

/** An outcome as it may be kept, where the action passes on what is kept nowhere: errors name what they were about. */
export function withoutTransient(envelope: Envelope, { id, transient }: ActionData): Envelope {
  if (transient === undefined || envelope.status === 'approval_required') return envelope;
  if (envelope.status === 'error') {
    const { code, retryable } = envelope.error;
    return {
      status: 'error',
      error: { code, message: `${id} ended so before; more was not kept.`, retryable },
    };
  }
  const hidden = transient.filter((name) => envelope.output[name] !== undefined);
  const blanks = Object.fromEntries(hidden.map((name) => [name, HIDDEN]));
  return { status: 'ok', output: { ...envelope.output, ...blanks } };
}
