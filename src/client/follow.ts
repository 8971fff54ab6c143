import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import type { BackendClient } from '../core/client.ts';
import type { FeedEntry } from '../core/feed.ts';
import type { Http } from './http.ts';

/** The server sends a comment every 15 s; after this silence, milliseconds, the connection counts as dead. */
const SILENCE_MS = 45_000;
const FIRST_DELAY_MS = 1_000;
const LAST_DELAY_MS = 30_000;
/** A stream that lived shorter than this, milliseconds, was no success: the delay keeps growing. */
const SETTLED_MS = 10_000;
/** Longest event, characters. */
const MAX_EVENT = 16 * 1024 * 1024;

type FollowOptions = Parameters<BackendClient['follow']>[0];

/** See `BackendClient.follow`. */
export async function follow(
  http: Http,
  options: FollowOptions,
  onEntry: (entry: FeedEntry) => void,
  random: () => number,
): Promise<void> {
  const { signal } = options;
  const position: Position = { lastId: undefined };
  let delay = FIRST_DELAY_MS;
  while (!signal.aborted) {
    const startedAt = performance.now();
    // Whatever ended the stream, the answer is the same: come back later.
    await readStream(http, options, position, onEntry).catch(() => undefined);
    if (performance.now() - startedAt > SETTLED_MS) delay = FIRST_DELAY_MS;
    // Spread, so that all clients of a restarted backend do not come at once.
    await sleep(delay * (0.5 + random() / 2), undefined, { signal }).catch(() => undefined);
    delay = Math.min(delay * 2, LAST_DELAY_MS);
  }
}

interface Position {
  /** Newest id seen; the next connection resumes after it. */
  lastId: string | undefined;
}

async function readStream(
  http: Http,
  { types, sessionId, signal, onState }: FollowOptions,
  position: Position,
  onEntry: (entry: FeedEntry) => void,
): Promise<void> {
  const stream = await http.open({
    method: 'GET',
    path: '/v1/events',
    query: { ...(types && { types: types.join(',') }), ...(sessionId && { sessionId }) },
    headers: {
      accept: 'text/event-stream',
      ...(position.lastId !== undefined && { 'last-event-id': position.lastId }),
    },
    signal,
    silenceMs: SILENCE_MS,
  });
  let up = false;
  try {
    const parser = createParser({
      maxBufferSize: MAX_EVENT,
      onEvent: ({ event, id, data }) => {
        if (id !== undefined) position.lastId = id;
        // After `reset` and `ready` the caller has to read anew, which `onState(true)` already asks for.
        if (event === 'reset') position.lastId = String((JSON.parse(data) as { newest: number }).newest);
        else if (event !== 'ready') onEntry(JSON.parse(data) as FeedEntry);
      },
    });
    if (stream.statusCode !== 200) return;
    up = true;
    onState?.(true);
    const decoder = new TextDecoder();
    for await (const chunk of stream) parser.feed(decoder.decode(chunk as Buffer, { stream: true }));
  } finally {
    stream.destroy();
    if (up) onState?.(false);
  }
}
