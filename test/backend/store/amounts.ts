/** What the tests and their other processes agree on. */

/** `a-0`, `a-1`, ... are moved about. */
export const APPROVALS = 200;
/** Most requests that one requester may have pending. */
export const MAX_PENDING = 4;
