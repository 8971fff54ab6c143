import type { Hono } from 'hono';
import * as z from 'zod';
import type { ActionEngine } from '../../core/engine.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { FeedEntry } from '../../core/feed.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { SessionsPort } from '../../core/ports/sessions.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { Revocations } from '../revocations.ts';
import type { FeedStore } from '../store/store.ts';
import { type Authenticate, isOver } from './authenticate.ts';
import { type EventStream, streamEvents, type StreamTimings } from './event-stream.ts';
import { createFeedReach, FEED_TYPES, readableTypes } from './feed-scope.ts';
import type { Gate } from './gate.ts';
import type { HttpEnv } from './http-env.ts';
import { toCredential } from './web-credential.ts';

const eventId = z.string().regex(/^\d{1,15}$/);

/** `GET /v1/events`. Answers the way to end every open stream. */
export function addEventsRoute(
  app: Hono<HttpEnv>,
  options: {
    engine: Pick<ActionEngine, 'manifests'>;
    feed: FeedStore;
    sessions: Pick<SessionsPort, 'isWithin'>;
    authenticate: Authenticate;
    gate: Gate;
    revocations: Revocations;
    runtime: Pick<Runtime, 'now'>;
    log: Logger;
    timings: StreamTimings;
  },
): { closeStreams(): Promise<void> } {
  const { feed, revocations, runtime, log } = options;
  const open = new Set<EventStream>();

  app.get('/v1/events', async (c) => {
    options.gate.requireOpen();
    const bearer = await options.authenticate(toCredential(c));
    const asked = readTypes(c.req.query('types'));
    const types = new Set<string>(
      readableTypes(bearer.scope, options.engine.manifests).filter((type) => asked.has(type)),
    );
    const after = readAfter(c.req.header('last-event-id'));
    const sessionId = c.req.query('sessionId');
    const deltasOf = readIds(c.req.query('deltas'));
    const reaches = createFeedReach(options.sessions, bearer.scope.sessionId);
    const stream = streamEvents({
      feed,
      after,
      wants: (entry) =>
        types.has(entry.type) && isOf(entry, sessionId) && isSpoken(entry, deltasOf) && reaches(entry),
      mayGoOn: () => bearer.expiresAt === undefined || !isOver(bearer.expiresAt, runtime),
      cut() {
        log.info({ tokenId: bearer.tokenId }, 'cutting an event stream that is not read');
        c.env.outgoing.destroy();
      },
      timings: options.timings,
    });
    const forget = revocations.onRevoked(bearer, stream.stop);
    open.add(stream);
    void stream.done
      .catch((error) => log.error({ error }, 'event stream failed'))
      .finally(() => {
        forget();
        open.delete(stream);
      });
    // A proxy must not hold events back.
    c.header('x-accel-buffering', 'no');
    c.header('content-type', 'text/event-stream; charset=utf-8');
    return c.body(stream.body);
  });

  return {
    async closeStreams() {
      for (const stream of open) stream.stop();
      await Promise.allSettled([...open].map((stream) => stream.done));
    },
  };
}

/** Entries that belong to no session concern everyone. */
const isOf = (entry: FeedEntry, sessionId: string | undefined): boolean =>
  sessionId === undefined || !('sessionId' in entry) || entry.sessionId === sessionId;

/** Streamed text is the bulk of the feed; whoever shows a few sessions asks for theirs. */
const isSpoken = (entry: FeedEntry, deltasOf: ReadonlySet<string> | undefined): boolean =>
  entry.type !== 'delta' || (deltasOf?.has(entry.sessionId) ?? true);

/** Ids between commas; an empty list is of none, and no list is of all. */
const readIds = (query: string | undefined): ReadonlySet<string> | undefined =>
  query === undefined ? undefined : new Set(query.split(','));

function readTypes(query: string | undefined): ReadonlySet<string> {
  const asked = (query ?? '').split(',').filter((type) => type !== '');
  const wrong = asked.find((type) => !(FEED_TYPES as string[]).includes(type));
  if (wrong !== undefined)
    throw badQuery('types', `has ${JSON.stringify(wrong.slice(0, 60))}`, FEED_TYPES.join(', '));
  return new Set(asked.length === 0 ? FEED_TYPES : asked);
}

function readAfter(header: string | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (!eventId.safeParse(header).success) {
    throw badQuery('Last-Event-ID', `is ${JSON.stringify(header.slice(0, 60))}`, 'an id of this stream');
  }
  return Number(header);
}

const badQuery = (path: string, received: string, allowed: string) =>
  new KaiwuError('invalid_input', `${path} ${received}; it takes ${allowed}.`, {
    details: { issues: [{ path, message: `takes ${allowed}` }] },
  });
