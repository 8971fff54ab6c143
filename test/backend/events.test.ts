import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/local/sqlite.ts';
import { type EventReader, openEvents } from './helpers/sse.ts';
import { errorOf, openWorld, type World } from './helpers/world.ts';
import type { Json } from './helpers/json.ts';

let world: World;
let token: string;
const readers: EventReader[] = [];

beforeEach(async () => {
  world = await openWorld({ timings: { stream: { heartbeatMs: 100, stallMs: 1000 } } });
  ({ token } = await world.signIn());
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await world.end();
});

async function open(options: Parameters<typeof openEvents>[2] = {}, bearer = token): Promise<EventReader> {
  const reader = await openEvents(world.url, bearer, options);
  readers.push(reader);
  return reader;
}

const change = (n: number) => world.store.feed.append({ type: 'policy.changed', version: n });
const ofSession = (sessionId: string) => world.store.feed.append({ type: 'session.changed', sessionId });

describe('live', () => {
  it('begins with the newest id, then sends what comes, ids on durable entries only', async () => {
    await change(1);
    const { newest } = await world.store.feed.bounds();
    const reader = await open();
    expect(reader.status).toBe(200);
    expect(reader.headers['content-type']).toContain('text/event-stream');
    expect(reader.headers['x-request-id']).toMatch(/^call_/);
    await reader.count(1);
    await change(2);
    world.store.feed.tell({
      type: 'delta',
      sessionId: 'sess_a',
      messageId: 'm',
      kind: 'text',
      block: 1,
      text: 'привет\nline',
    });
    const [ready, durable, delta] = await reader.count(3);
    expect(ready).toEqual({ id: String(newest), event: 'ready', data: { newest } });
    expect(durable).toMatchObject({
      id: String(newest + 1),
      event: 'policy.changed',
      data: { version: 2, id: newest + 1 },
    });
    // The parser keeps the last id for those without one: a client resumes after the last durable entry.
    expect(delta).toMatchObject({ event: 'delta', data: { text: 'привет\nline' } });
    expect(delta?.data.id).toBeUndefined();
  });

  it('a quiet stream carries comments', async () => {
    const reader = await open();
    await expect.poll(() => reader.comments.length, { timeout: 20_000 }).toBeGreaterThan(2);
  });

  it('a token hears only of what its actions and surfaces let it read', async () => {
    const all = await open();
    const list = await open({}, await world.makeToken({ scope: { actions: ['session.list'] } }));
    const transcripts = await open(
      {},
      await world.makeToken({ scope: { actions: ['session.transcript.*'] } }),
    );
    const approvals = await open(
      {},
      await world.makeToken({ scope: { actions: ['approval.request.list'] } }),
    );
    const writes = await open({}, await world.makeToken({ scope: { actions: ['session.archive'] } }));
    const none = await open({}, await world.makeToken({ scope: { surfaces: [] } }));
    const readers = [all, list, transcripts, approvals, writes, none];
    await Promise.all(readers.map((reader) => reader.count(1)));
    await ofSession('sess_a');
    await world.store.feed.append({ type: 'message.changed', sessionId: 'sess_a', messageId: 'm' });
    await world.store.feed.append({ type: 'transcript.appended', sessionId: 'sess_a', fromSeq: 1, toSeq: 1 });
    world.store.feed.tell({
      type: 'delta',
      sessionId: 'sess_a',
      messageId: 'm',
      kind: 'text',
      block: 1,
      text: 't',
    });
    await world.store.feed.append({ type: 'approval.changed', artifactId: 'a', status: 'pending' });
    await change(9);
    const names = async (reader: EventReader, count: number) =>
      (await reader.count(count + 1)).slice(1).map(({ event }) => event);
    const session = ['session.changed', 'message.changed'];
    const transcript = ['transcript.appended', 'delta'];
    expect(await names(all, 6)).toEqual([...session, ...transcript, 'approval.changed', 'policy.changed']);
    expect(await names(list, 3)).toEqual([...session, 'policy.changed']);
    expect(await names(transcripts, 5)).toEqual([...session, ...transcript, 'policy.changed']);
    expect(await names(approvals, 2)).toEqual(['approval.changed', 'policy.changed']);
    expect(await names(writes, 1)).toEqual(['policy.changed']);
    expect(await names(none, 1)).toEqual(['policy.changed']);
  });

  it('types and sessions are filtered; a token for one session never sees another', async () => {
    const scoped = await world.makeToken({ scope: { sessionId: 'sess_a' } });
    const all = await open();
    const some = await open({ query: '?types=session.changed,delta' });
    const one = await open({ query: '?types=session.changed&sessionId=sess_b' });
    const own = await open({}, scoped);
    const tricked = await open({ query: '?sessionId=sess_b' }, scoped);
    await Promise.all([all, some, one, own, tricked].map((reader) => reader.count(1)));
    await ofSession('sess_a');
    await ofSession('sess_b');
    await change(9);
    await ofSession('sess_b');
    await all.count(5);
    const names = (reader: EventReader) =>
      reader.events.slice(1).map((event) => event.data.sessionId ?? event.event);
    expect(names(all)).toEqual(['sess_a', 'sess_b', 'policy.changed', 'sess_b']);
    await some.count(4);
    expect(names(some)).toEqual(['sess_a', 'sess_b', 'sess_b']);
    await one.count(3);
    expect(names(one)).toEqual(['sess_b', 'sess_b']);
    await own.count(3);
    expect(names(own)).toEqual(['sess_a', 'policy.changed']);
    await tricked.count(2);
    expect(names(tricked)).toEqual(['policy.changed']);
  });

  it('text of running turns comes for the sessions that were asked for, all else comes anyway', async () => {
    const [all, some, none] = [
      await open(),
      await open({ query: '?deltas=sess_a,sess_c' }),
      await open({ query: '?deltas=' }),
    ] as const;
    await Promise.all([all, some, none].map((reader) => reader.count(1)));
    for (const sessionId of ['sess_a', 'sess_b', 'sess_c'])
      world.store.feed.tell({ type: 'delta', sessionId, messageId: 'm', kind: 'text', block: 1, text: 't' });
    await ofSession('sess_b');
    const names = async (reader: EventReader, count: number) =>
      (await reader.count(count + 1)).slice(1).map(({ event, data }) => `${event} ${data.sessionId}`);
    expect(await names(all, 4)).toHaveLength(4);
    expect(await names(some, 3)).toEqual(['delta sess_a', 'delta sess_c', 'session.changed sess_b']);
    expect(await names(none, 1)).toEqual(['session.changed sess_b']);
  });

  it('bad questions are refused', async () => {
    for (const [options, code] of [
      [{ query: '?types=nonsense' }, 'invalid_input'],
      [{ lastEventId: 'abc' }, 'invalid_input'],
      [{ lastEventId: '-1' }, 'invalid_input'],
    ] as const) {
      const answer = await fetch(`${world.url}/v1/events${'query' in options ? options.query : ''}`, {
        headers: {
          authorization: `Bearer ${token}`,
          ...('lastEventId' in options ? { 'last-event-id': options.lastEventId } : {}),
        },
      });
      expect(answer.status).toBe(400);
      expect(errorOf((await answer.json()) as Json).code).toBe(code);
    }
    expect((await world.get('/v1/events')).status).toBe(401);
  });
});

describe('resume', () => {
  it('nothing is lost and nothing comes twice, over many cuts while entries keep coming', async () => {
    const { newest } = await world.store.feed.bounds();
    const total = 600;
    const seen: number[] = [];
    let last = String(newest);
    let cuts = 0;
    const writing = (async () => {
      for (let n = 1; n <= total; n++) await change(n);
    })();
    while (seen.length < total) {
      const reader = await open({ lastEventId: last, query: '?types=policy.changed' });
      const taken = (await reader.count(Math.min(37, total - seen.length))).slice(0, 37);
      reader.close();
      cuts += 1;
      for (const event of taken) {
        expect(event.event).toBe('policy.changed');
        seen.push(event.data.version);
        last = event.id as string;
      }
    }
    await writing;
    expect(cuts).toBeGreaterThan(3);
    expect(seen).toEqual(Array.from({ length: total }, (_, i) => i + 1));
  });

  it('an entry that comes while older ones are read is sent once', async () => {
    await change(1);
    const { newest } = await world.store.feed.bounds();
    const { since } = world.store.feed;
    let reads = 0;
    world.store.feed.since = async (id, limit) => {
      if (++reads === 1) await change(2);
      return since(id, limit);
    };
    const reader = await open({ lastEventId: String(newest - 1), query: '?types=policy.changed' });
    await reader.count(2);
    await change(3);
    expect((await reader.count(3)).map((event) => event.data.version)).toEqual([1, 2, 3]);
  });

  it('an id that is no longer kept is told to look afresh, the oldest one kept is not', async () => {
    for (let n = 1; n <= 6; n++) await change(n);
    const { newest } = await world.store.feed.bounds();
    const database = openSqlite(world.databasePath);
    database.prepare('delete from feed where feed_id < ?').run(newest - 2);
    database.close();
    const late = await open({ lastEventId: String(newest - 4) });
    expect((await late.count(1))[0]).toMatchObject({ event: 'reset', data: { newest } });
    const intime = await open({ lastEventId: String(newest - 3) });
    expect((await intime.count(3)).map((event) => event.data.version)).toEqual([4, 5, 6]);
  });

  it('an id that never was is told to look afresh', async () => {
    for (let n = 1; n <= 3; n++) await change(n);
    const { newest } = await world.store.feed.bounds();
    const ahead = await open({ lastEventId: String(newest + 1000) });
    const [reset] = await ahead.count(1);
    expect(reset).toEqual({ id: String(newest), event: 'reset', data: { newest } });
    await change(4);
    const [, next] = await ahead.count(2);
    expect(next?.id).toBe(String(newest + 1));
  });

  it('one who is up to date gets what comes next', async () => {
    const { newest } = await world.store.feed.bounds();
    const reader = await open({ lastEventId: String(newest) });
    await change(1);
    const [next] = await reader.count(1);
    expect(next).toMatchObject({ id: String(newest + 1), event: 'policy.changed' });
  });
});

describe('bad readers and ends', () => {
  it('one who falls behind is served from the store and misses nothing durable', async () => {
    await world.restart({ timings: { stream: { heartbeatMs: 100, stallMs: 60_000 } } });
    const { newest } = await world.store.feed.bounds();
    const reader = await open({ lastEventId: String(newest), paused: true });
    const text = 'x'.repeat(100_000);
    for (let n = 0; n < 40; n++) {
      await change(n);
      for (let i = 0; i < 10; i++) {
        world.store.feed.tell({
          type: 'delta',
          sessionId: 's',
          messageId: 'm',
          kind: 'text',
          block: 1,
          text,
        });
      }
      await setImmediate();
    }
    reader.start();
    const versions = () =>
      reader.events.flatMap(({ event, data }) => (event === 'policy.changed' ? [data.version] : []));
    await expect.poll(() => versions().length, { timeout: 20_000 }).toBe(40);
    expect(versions()).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(reader.events.length).toBeLessThan(440);
  });

  it('one who does not read is cut off, memory stays bounded, and it loses nothing', async () => {
    const { newest } = await world.store.feed.bounds();
    const reader = await open({ lastEventId: String(newest), paused: true });
    const before = process.memoryUsage().heapUsed;
    const text = 'x'.repeat(100_000);
    const flood = setInterval(() => {
      for (let n = 0; n < 10; n++) {
        world.store.feed.tell({
          type: 'delta',
          sessionId: 's',
          messageId: 'm',
          kind: 'text',
          block: 1,
          text,
        });
      }
    }, 5);
    for (let n = 0; n < 20; n++) await change(n);
    const isCut = () => world.logs.some((line) => line.includes('cutting an event stream'));
    await expect.poll(isCut, { timeout: 30_000 }).toBe(true);
    clearInterval(flood);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(300_000_000);
    reader.incoming.resume();
    await reader.ended;
    const again = await open({ lastEventId: String(newest) });
    const events = await again.count(20);
    expect(events.map((event) => event.data.version)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  it('ends when its token is revoked, expires, or its device goes', async () => {
    const made = await world.ok(token, 'token.create', { name: 'watcher', surfaces: ['cli'] });
    const revoked = await open({}, made.token);
    await revoked.count(1);
    await world.ok(token, 'token.revoke', { tokenId: made.tokenId });
    await revoked.ended;

    const soon = new Date(world.runtime.now().getTime() + 60_000).toISOString();
    const expiring = await open({}, await world.makeToken({ expiresAt: soon }));
    await expiring.count(1);
    world.runtime.advance(61_000);
    await expiring.ended;

    const device = await world.signIn('other');
    const gone = await open({}, device.token);
    await gone.count(1);
    await world.ok(token, 'device.revoke', { deviceId: device.deviceId });
    await gone.ended;
    expect([revoked, expiring, gone].map((reader) => reader.incoming.complete)).toEqual([true, true, true]);
  });

  it('ends with the backend', async () => {
    const reader = await open();
    await reader.count(1);
    const closed = once(reader.incoming, 'end');
    await world.backend.close();
    await closed;
    expect(reader.incoming.complete).toBe(true);
  });
});
