import { toInputDigest, withoutFields } from './digest.ts';
import type { AuditRow } from './ports/governance.ts';
import type { Runtime } from './ports/stores.ts';
import { redact } from './redact.ts';
import type { AnyAction } from './spec.ts';
import { toShortText } from './visible-text.ts';

/**
 * The input of a call as the audit keeps it: without secrets, with the digest of the whole. Input nested so deep that it cannot
 * be walked has its row as well.
 */
export function toAuditInput(
  runtime: Runtime,
  call: { actionId: string; action?: AnyAction; input: unknown; inputDigest?: string },
): Pick<AuditRow, 'input' | 'inputDigest'> {
  const { actionId, action, input } = call;
  try {
    // A call that came so far has its digest already; it may be over megabytes.
    const inputDigest =
      call.inputDigest ??
      toInputDigest(
        runtime,
        actionId,
        withoutFields(withoutFields(input, action?.secrets), action?.transient),
      );
    const given = toObject(input);
    return { input: redact(toShort(given) as object, hiddenIn(given, action)), inputDigest };
  } catch {
    return { input: { unreadable: true }, inputDigest: '' };
  }
}

/** A misspelt field holds what its right one would: where that is kept nowhere, no unknown field is. */
function hiddenIn(given: object, action: AnyAction | undefined): string[] {
  const { secrets = [], transient } = action ?? {};
  if (action === undefined || transient === undefined) return secrets;
  return [...secrets, ...transient, ...Object.keys(given).filter((name) => !(name in action.input.shape))];
}

/** Longest text of an input that the audit keeps whole, characters; the digest stands for the rest. */
const MAX_AUDIT_TEXT = 16_384;

function toShort(value: unknown): unknown {
  if (typeof value === 'string') return toShortText(value, MAX_AUDIT_TEXT);
  if (Array.isArray(value)) return value.map(toShort);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toShort(item)]));
}

/** An input that is no object (and was refused for it) still has its place in the audit. */
const toObject = (input: unknown): object =>
  typeof input === 'object' && input !== null && !Array.isArray(input)
    ? input
    : input == null
      ? {}
      : { value: input };
