import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newMessage, newSession, toEvents } from '../make.ts';

export function messagesSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
    await world.store.sessions.insert(newSession('sess_a'));
  });
  afterEach(() => world.end());

  test('the same id with the same text is one message', async () => {
    const { messages, feed } = world.store;
    const first = await messages.insert(newMessage('msg_1', 'sess_a'));
    expect(first).toStrictEqual({
      messageId: 'msg_1',
      sessionId: 'sess_a',
      text: 'say hello',
      status: 'queued',
      createdAt: '2026-11-30T12:00:00.000Z',
    });
    world.runtime.advance(1000);
    const { newest } = await feed.bounds();
    expect(await messages.insert(newMessage('msg_1', 'sess_a'))).toStrictEqual(first);
    expect((await feed.bounds()).newest).toBe(newest);
    expect(await messages.undelivered('sess_a')).toHaveLength(1);
  });

  test('the same id at the same moment is one message', async () => {
    const { messages } = world.store;
    const sent = await Promise.all(
      Array.from({ length: 20 }, () => messages.insert(newMessage('msg_1', 'sess_a'))),
    );
    expect(new Set(sent.map((m) => JSON.stringify(m))).size).toBe(1);
    expect(await messages.undelivered('sess_a')).toHaveLength(1);
  });

  test('the same id for another text or session is a conflict and changes nothing', async () => {
    const { messages, sessions } = world.store;
    await sessions.insert(newSession('sess_b'));
    await messages.insert(newMessage('msg_1', 'sess_a'));
    const conflict = { code: 'conflict', message: expect.stringContaining('msg_1') };
    await expect(messages.insert(newMessage('msg_1', 'sess_a', 'other'))).rejects.toMatchObject(conflict);
    await expect(messages.insert(newMessage('msg_1', 'sess_b'))).rejects.toMatchObject(conflict);
    expect((await messages.get('msg_1'))?.text).toBe('say hello');
    expect(await messages.undelivered('sess_b')).toEqual([]);
  });

  test('a message needs its session', async () => {
    const sent = world.store.messages.insert(newMessage('msg_1', 'sess_none'));
    await expect(sent).rejects.toMatchObject({ code: 'session_not_found' });
    expect(await world.store.messages.get('msg_1')).toBeUndefined();
  });

  test('every character survives, after a restart too', async () => {
    const text = `— 漢 🧑‍🚀 e\u0301 \u0000 \ud800 \u202e '"\\%_ ${'long '.repeat(50_000)}`;
    await world.store.messages.insert(newMessage('msg_1', 'sess_a', text));
    const store = await world.reopen();
    expect((await store.messages.get('msg_1'))?.text).toBe(text);
    expect(await store.messages.insert(newMessage('msg_1', 'sess_a', text))).toHaveProperty('text', text);
  });

  test('undelivered messages keep the order of arrival and their overrides', async () => {
    const { messages } = world.store;
    const ids = Array.from({ length: 10 }, (_, i) => `msg_${(i * 7) % 10}`);
    for (const id of ids) {
      await messages.insert({ ...newMessage(id, 'sess_a'), overrides: { modelId: id } });
    }
    const queued = await messages.undelivered('sess_a');
    expect(queued.map((m) => m.messageId)).toEqual(ids);
    expect(queued[3]?.overrides).toEqual({ modelId: ids[3] });
    await messages.markDelivered('msg_0');
    await messages.markDelivered('msg_0');
    await messages.markDelivered('msg_unknown');
    expect((await messages.undelivered('sess_a')).map((m) => m.messageId)).toEqual(ids.slice(1));
    expect((await messages.get('msg_0'))?.status).toBe('queued');
  });

  test('canceling takes only what the daemon has not acknowledged', async () => {
    const { messages } = world.store;
    for (const id of ['msg_1', 'msg_2', 'msg_3', 'msg_4']) await messages.insert(newMessage(id, 'sess_a'));
    await messages.markDelivered('msg_1');
    const reason = { code: 'canceled', message: 'the session was stopped' };
    expect(await messages.cancelUndelivered('sess_a', reason, ['msg_1', 'msg_3'])).toEqual(['msg_3']);
    expect(await messages.cancelUndelivered('sess_a', reason, [])).toEqual([]);
    expect(await messages.cancelUndelivered('sess_a', reason)).toEqual(['msg_2', 'msg_4']);
    expect(await messages.cancelUndelivered('sess_a', reason)).toEqual([]);
    expect(await messages.get('msg_2')).toMatchObject({ status: 'canceled', reason });
    expect((await messages.get('msg_1'))?.status).toBe('queued');
  });

  test('open messages are those queued or running', async () => {
    const { messages, transcripts } = world.store;
    expect(await messages.hasOpen('sess_a')).toBe(false);
    await messages.insert(newMessage('msg_1', 'sess_a'));
    expect(await messages.hasOpen('sess_a')).toBe(true);
    const begun = toEvents(world.runtime, 1, { type: 'user_message', messageId: 'msg_1', text: 'say hello' });
    await transcripts.append('sess_a', begun);
    expect(await messages.hasOpen('sess_a')).toBe(true);
    const ended = toEvents(world.runtime, 2, { type: 'turn_ended', messageId: 'msg_1', outcome: 'failed' });
    await transcripts.append('sess_a', ended);
    expect(await messages.hasOpen('sess_a')).toBe(false);
  });
}
