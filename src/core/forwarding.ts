import { invalidInput } from './input.ts';
import type { AnyAction, Forwarding } from './spec.ts';

/** Name of the action that a forwarding action's input stands for. */
export const toTargetName = ({ action }: Forwarding, input: Record<string, unknown>): string =>
  action.replaceAll(/\{(\w+)\}/g, (_, field: string) => String(input[field]));

/** What a forwarding action may call: no other of its kind, and where it says so only reads. */
export function requireTarget(wrapper: AnyAction, target: AnyAction): void {
  const refuse = (message: string) =>
    invalidInput(wrapper.id, [{ path: 'actionId', message, received: target.id }]);
  if (target.forward !== undefined) throw refuse('cannot be an action that calls others');
  if (wrapper.forward?.readsOnly === true && target.effect !== 'read') {
    throw refuse(`must be an action that only reads; ${target.id} is ${target.effect}`);
  }
}

/** An alias for the default session takes no session of its own. */
export function refuseOmitted(action: AnyAction, omit: string[], raw: unknown): void {
  if (typeof raw !== 'object' || raw === null) return;
  const given = omit.filter((field) => (raw as Record<string, unknown>)[field] != null);
  if (given.length === 0) return;
  throw invalidInput(
    action.id,
    given.map((path) => ({ path, message: `is not taken under this name; call ${action.id} to pass it` })),
  );
}
