import type { TokenScope } from '../../core/call.ts';
import type { FeedBody } from '../../core/feed.ts';
import { inScope } from '../../core/policy.ts';
import type { ActionManifest, Surface } from '../../core/spec.ts';

type FeedType = FeedBody['type'];

/** Family whose reading each type of entry tells of; `undefined`: it concerns everyone. */
const FAMILIES: Record<FeedType, string | undefined> = {
  'session.changed': 'session.*',
  'message.changed': 'session.*',
  'transcript.appended': 'session.transcript.*',
  delta: 'session.transcript.*',
  'approval.changed': 'approval.*',
  'policy.changed': undefined,
  'machine.changed': undefined,
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
