import type { Approval } from '../src/core/approval.ts';
import type { Caller } from '../src/core/call.ts';
import type { SessionsPort } from '../src/core/ports/sessions.ts';

/** The part of a lineage that the caller's token reaches: what lies above its session is not told. */
export function reachable<T extends { sessionId: string }>(lineage: T[], { scope }: Caller): T[] {
  if (scope.sessionId === undefined) return lineage;
  const from = lineage.findIndex(({ sessionId }) => sessionId === scope.sessionId);
  return from < 0 ? [] : lineage.slice(from);
}

/** Says of a request out of a session in whose name it comes: a child's request is its root's business. */
export async function withLineage(
  approval: Approval,
  sessions: Pick<SessionsPort, 'lineage'>,
  caller: Caller,
) {
  const { scope, sessionId } = approval.requester;
  const asking = scope?.sessionId ?? sessionId;
  if (asking === undefined) return approval;
  // A default session is a claim; it need not be one that exists.
  const lineage = await sessions.lineage(asking).catch(() => undefined);
  return lineage === undefined ? approval : { ...approval, lineage: reachable(lineage, caller) };
}
