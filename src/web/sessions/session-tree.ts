import type { actions, OutputOf } from '../api/call.ts';

export type SessionRow = OutputOf<typeof actions.session.list>['sessions'][number];

export interface TreeRow {
  session: SessionRow;
  /** Steps below the first of its line that is in the list. */
  indent: number;
}

/** Sessions with those that they started below them; the order is otherwise kept. */
export function toTree(sessions: SessionRow[]): TreeRow[] {
  const ids = new Set(sessions.map(({ sessionId }) => sessionId));
  const below = new Map<string, SessionRow[]>();
  for (const session of sessions) {
    const { parentSessionId = '' } = session;
    const parent = ids.has(parentSessionId) ? parentSessionId : '';
    below.set(parent, [...(below.get(parent) ?? []), session]);
  }
  const toRows = (parent: string, indent: number): TreeRow[] =>
    (below.get(parent) ?? []).flatMap((session) => [
      { session, indent },
      ...toRows(session.sessionId, indent + 1),
    ]);
  return toRows('', 0);
}
