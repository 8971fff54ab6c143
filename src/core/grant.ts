import type { ReadyCall } from './executor.ts';
import { redactText } from './redact.ts';
import type { Surface } from './spec.ts';

/** How a grant holds a field of the input: to one value, to a path and what lies below it, or to not being there. */
export type Pin = { is: 'exact'; value: unknown } | { is: 'prefix'; value: string } | { is: 'absent' };

/**
 * Leave that a person gave, by the example of one approval, to run the like without asking for a while. It only ever
 * narrows: the same action, from the same surface and token, with every pinned field as it says. Times are RFC 3339.
 */
export interface Grant {
  grantId: string;
  /** Approval that it was made from. */
  artifactId: string;
  actionId: string;
  surface: Surface;
  tokenId: string;
  /** The one machine that calls may come from. */
  machineId?: string;
  pins: Record<string, Pin>;
  createdAt: string;
  createdBy: string;
  expiresAt: string;
  /** How often it may be used in all, and how often it still may. */
  uses: number;
  usesLeft: number;
  revokedAt?: string;
}

/** Why a grant does not cover a call; undefined where it does. Whether a use is left is the store's to say, at the use. */
export function grantMismatch(
  grant: Grant,
  call: Pick<ReadyCall, 'input' | 'caller'> & { actionId: string },
  now: string,
): string | undefined {
  const { caller, input, actionId } = call;
  if (grant.actionId !== actionId) return `it is for ${grant.actionId}`;
  if (grant.revokedAt !== undefined) return `it was revoked at ${grant.revokedAt}`;
  if (grant.expiresAt <= now) return `it ended at ${grant.expiresAt}`;
  if (grant.usesLeft <= 0) return `all of its ${grant.uses} uses are spent`;
  if (grant.surface !== caller.surface) return `it is for surface ${grant.surface}`;
  if (grant.tokenId !== caller.tokenId) return 'it is for another requester';
  if (grant.machineId !== undefined && grant.machineId !== caller.machineId)
    return 'it is for another machine';
  const off = Object.entries(grant.pins).find(([field, pin]) => !fits(pin, input[field]));
  return off === undefined ? undefined : `${off[0]} is not ${toPinText(off[1])}`;
}

function fits(pin: Pin, value: unknown): boolean {
  if (pin.is === 'absent') return value === undefined;
  if (pin.is === 'exact') return JSON.stringify(value) === JSON.stringify(pin.value);
  if (typeof value !== 'string' || !isPlainPath(value)) return false;
  const folder = pin.value.replace(/\/+$/, '');
  return value === folder || value.startsWith(`${folder}/`);
}

/** A path that could climb out of the prefix it begins with is covered by none. */
export const isPlainPath = (path: string): boolean =>
  path.startsWith('/') && !path.split('/').some((part) => part === '..' || part === '.');

/** Without what looks like a credential: it tells others what they may do. */
export function toPinText(pin: Pin): string {
  if (pin.is === 'absent') return 'left out';
  return redactText(pin.is === 'exact' ? (JSON.stringify(pin.value) ?? '') : `${pin.value} or below it`);
}
