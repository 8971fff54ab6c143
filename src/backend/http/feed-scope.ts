import type { TokenScope } from '../../core/call.ts';
import type { FeedBody, FeedEntry } from '../../core/feed.ts';
import { inScope } from '../../core/policy.ts';
import type { SessionsPort } from '../../core/ports/sessions.ts';
import { isReachable } from '../../core/resolve-session.ts';
import type { ActionManifest, Surface } from '../../core/spec.ts';

type FeedType = FeedBody['type'];

/** Family whose reading each type of entry tells of; `undefined`: it concerns everyone. */
const FAMILIES: Record<FeedType, string | undefined> = {
  'session.changed': 'session.*',
  'message.changed': 'session.*',
  'transcript.appended': 'session.transcript.*',
  delta: 'session.transcript.*',
  'approval.changed': 'approval.*',
  'run.changed': 'execution.*',
  'file.changed': 'file.*',
  'policy.changed': undefined,
  'machine.changed': undefined,
  'catalog.changed': undefined,
  'mcp_server.changed': 'mcp.*',
};

export const FEED_TYPES = Object.keys(FAMILIES) as FeedType[];

/** The types of entries that a token may hear of: it can read something of the family, from a surface that it may speak for. */
export function readableTypes(scope: TokenScope, manifests: readonly ActionManifest[]): FeedType[] {
  const surfaces = ({ surfaces }: ActionManifest) => Object.keys(surfaces) as Surface[];
  const readable = manifests.filter(
    (action) =>
      action.effect === 'read' &&
      inScope(action.id, scope) &&
      surfaces(action).some((surface) => scope.surfaces?.includes(surface) ?? true),
  );
  return FEED_TYPES.filter((type) => {
    const family = FAMILIES[type];
    return family === undefined || readable.some(({ id }) => inScope(id, { actions: [family] }));
  });
}

/** Where a session stands never changes, so each is looked up once a stream, up to this many. */
const MAX_KNOWN = 10_000;

/** The entries that a token for one session may hear of: those of that session and of what it started. */
export function createFeedReach(
  sessions: Pick<SessionsPort, 'isWithin'>,
  only: string | undefined,
): (entry: FeedEntry) => boolean | Promise<boolean> {
  const known = new Map<string, boolean>();

  async function lookUp(sessionId: string): Promise<boolean> {
    try {
      const reachable = await isReachable(sessions, sessionId, only);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(sessionId, reachable);
      return reachable;
    } catch {
      // Not for sure within reach.
      return false;
    }
  }

  return (entry) => {
    // Which servers there are is not for a session to know; that its tools changed, it is told.
    if (only !== undefined && entry.type === 'mcp_server.changed') return false;
    // Entries that belong to no session concern everyone.
    if (only === undefined || !('sessionId' in entry) || entry.sessionId === only) return true;
    return known.get(entry.sessionId) ?? lookUp(entry.sessionId);
  };
}
