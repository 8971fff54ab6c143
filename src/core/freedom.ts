import type { PermissionMode } from './session.ts';

/** From the strictest to the freest: how much an agent may do unasked. A plan may be left when a person allows it. */
const FREEDOM: readonly PermissionMode[] = ['read_only', 'plan', 'default', 'accept_edits', 'bypass'];

export const STRICTEST_MODE: PermissionMode = 'read_only';

/** Whether an agent may do more in `mode` than in `than`. The backend and the daemon share this one order. */
export const isFreer = (mode: PermissionMode, than: PermissionMode): boolean =>
  FREEDOM.indexOf(mode) > FREEDOM.indexOf(than);
