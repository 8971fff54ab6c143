import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBackendClient } from '../../src/client/backend-client.ts';
import type { FeedEntry } from '../../src/core/feed.ts';
import { type FakeBackend, startFakeBackend } from '../helpers/fake-backend.ts';

/** One open stream, as the backend sees it. */
interface Stream {
  lastEventId: string | undefined;
  response: ServerResponse;
}

let backend: FakeBackend;
let abort: AbortController;
/** What the next streams are answered with. */
let answer: (stream: Stream) => unknown = () => undefined;
let streams: Stream[] = [];

beforeEach(async () => {
  abort = new AbortController();
  streams = [];
  backend = await startFakeBackend((request, response) => {
    const stream = { lastEventId: request.headers['last-event-id'] as string | undefined, response };
    streams.push(stream);
    answer(stream);
  });
});
afterEach(async () => {
  abort.abort();
  await backend.close();
});

const begin = ({ response }: Stream) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
const entry = (id: number): string =>
  `id: ${id}\nevent: session.changed\ndata: ${JSON.stringify({ type: 'session.changed', sessionId: `漢 ${id}`, id, at: 'now' })}\n\n`;

/** Follows until `wanted` entries are there. */
async function collect(wanted: number, options: { sessionId?: string; types?: FeedEntry['type'][] } = {}) {
  const entries: FeedEntry[] = [];
  const states: boolean[] = [];
  const client = createBackendClient({ url: backend.url, token: 'kw_t', version: '1', random: () => 0 });
  const following = client.follow(
    { ...options, signal: abort.signal, onState: (up) => states.push(up) },
    (got) => {
      entries.push(got);
      if (entries.length === wanted) abort.abort();
    },
  );
  await following;
  return { entries, states };
}

describe('the feed', () => {
  it('asks for what is wanted, and survives every split of its bytes', async () => {
    answer = async (stream) => {
      begin(stream);
      for (const byte of Buffer.from(`: hello\n\nevent: ready\nid: 4\ndata: {}\n\n${entry(5)}${entry(6)}`)) {
        stream.response.write(Buffer.from([byte]));
        await setImmediate();
      }
    };
    const { entries, states } = await collect(2, {
      types: ['session.changed', 'delta'],
      sessionId: 'sess_1',
    });
    expect(entries.map(({ id }) => id)).toEqual([5, 6]);
    expect(entries[0]).toMatchObject({ type: 'session.changed', sessionId: '漢 5' });
    expect(backend.requests[0]!.url).toBe('/v1/events?types=session.changed%2Cdelta&sessionId=sess_1');
    expect(backend.requests[0]!.headers.authorization).toBe('Bearer kw_t');
    expect(states).toEqual([true, false]);
  });

  it('comes back after a break and resumes behind the last entry, or behind `ready` when there was none', async () => {
    let n = 0;
    answer = (stream) => {
      n++;
      begin(stream);
      if (n === 1)
        stream.response.write('event: ready\nid: 7\ndata: {}\n\n', () => stream.response.destroy());
      if (n === 2) stream.response.write(entry(8), () => stream.response.destroy());
      if (n === 3) stream.response.write(entry(9));
    };
    const { entries, states } = await collect(2);
    expect(entries.map(({ id }) => id)).toEqual([8, 9]);
    expect(streams.map(({ lastEventId }) => lastEventId)).toEqual([undefined, '7', '8']);
    expect(states).toEqual([true, false, true, false, true, false]);
  });

  it('goes on behind the newest entry when the backend no longer has what was missed', async () => {
    let n = 0;
    answer = (stream) => {
      begin(stream);
      if (n++ === 0)
        stream.response.write('event: reset\ndata: {"newest": 40}\n\n', () => stream.response.destroy());
      else stream.response.write(entry(41));
    };
    expect((await collect(1)).entries.map(({ id }) => id)).toEqual([41]);
    expect(streams[1]!.lastEventId).toBe('40');
  });

  it('waits ever longer while it is refused, and never says that it is up', async () => {
    const times: number[] = [];
    answer = ({ response }) => {
      times.push(performance.now());
      response.writeHead(times.length === 2 ? 401 : 503).end();
      if (times.length === 4) abort.abort();
    };
    const { states } = await collect(1);
    const waits = times.slice(1).map((time, i) => time - times[i]!);
    expect(states).toEqual([]);
    // Half of 1, 2 and 4 s is the least that chance makes of them.
    expect(waits.map((wait, i) => wait >= 500 * 2 ** i - 50)).toEqual([true, true, true]);
  });

  it('ends with its signal, and closes the stream', async () => {
    let closed: Promise<unknown> | undefined;
    answer = (stream) => {
      begin(stream);
      closed = once(stream.response, 'close');
      abort.abort();
    };
    await collect(1);
    await closed;
    expect(streams).toHaveLength(1);
  });
});
