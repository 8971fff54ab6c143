import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SessionEvent } from '../../../../src/core/session.ts';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { agentText, newMessage, newSession, started, toEvents } from '../make.ts';

export function appendSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
    await world.store.sessions.insert(newSession('sess_a'));
  });
  afterEach(() => world.end());

  const append = (events: SessionEvent[]) => world.store.transcripts.append('sess_a', events);
  const session = () => world.store.sessions.get('sess_a');
  const transcript = async (limit = 1000) =>
    (await world.store.transcripts.page('sess_a', { after: 0, limit })).events;

  test('doubles are skipped and nothing is taken after a gap', async () => {
    const events = toEvents(
      world.runtime,
      1,
      ...Array.from({ length: 10 }, (_, i) => agentText(`t${i + 1}`)),
    );
    const some = (...seqs: number[]) => seqs.map((seq) => events[seq - 1] as SessionEvent);
    expect(await append(some(2, 3))).toEqual({ ackedSeq: 0 });
    expect(await append([])).toEqual({ ackedSeq: 0 });
    expect(await append(some(1, 2, 3))).toEqual({ ackedSeq: 3 });
    expect(await append(some(1, 2, 3))).toEqual({ ackedSeq: 3 });
    expect(await append(some(2, 3, 4, 4, 5))).toEqual({ ackedSeq: 5 });
    expect(await append(some(6, 8, 9, 7))).toEqual({ ackedSeq: 6 });
    expect(await append(some(3, 7, 8, 9, 10))).toEqual({ ackedSeq: 10 });
    expect(await transcript()).toStrictEqual(events);
    expect((await session()).lastSeq).toBe(10);
  });

  test('an unknown session is refused', async () => {
    const sent = world.store.transcripts.append('sess_none', toEvents(world.runtime, 1, started));
    await expect(sent).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('senders of the same events at once store them once', async () => {
    const events = toEvents(world.runtime, 1, ...Array.from({ length: 50 }, (_, i) => agentText(`t${i}`)));
    await Promise.all([1, 10, 25, 50].map((count) => append(events.slice(0, count))));
    expect(await append(events)).toEqual({ ackedSeq: 50 });
    expect(await transcript()).toStrictEqual(events);
  });

  test('rows follow the events of a turn', async () => {
    const { messages, sessions } = world.store;
    await messages.insert(newMessage('msg_1', 'sess_a'));
    await append(toEvents(world.runtime, 1, started));
    expect(await session()).toMatchObject({ status: 'idle', permissionMode: 'plan', modelId: 'small' });
    expect(await sessions.modelsOf('sess_a')).toEqual([{ id: 'small', name: 'Small' }]);

    const request = { requestId: 'r', title: 'Delete?', options: [] };
    await append(
      toEvents(
        world.runtime,
        2,
        { type: 'user_message', messageId: 'msg_1', text: 'say hello' },
        agentText('first ', 1),
        { type: 'permission_requested', messageId: 'msg_1', request },
      ),
    );
    expect(await session()).toMatchObject({ status: 'waiting', permission: request });
    expect(await messages.get('msg_1')).toMatchObject({ status: 'running' });

    world.runtime.advance(1000);
    await append(
      toEvents(
        world.runtime,
        5,
        { type: 'permission_resolved', messageId: 'msg_1', requestId: 'r', outcome: 'allowed', by: 'cli' },
        agentText('the ', 2),
        agentText('other turn', 9, 'msg_2'),
        agentText('reply', 2),
        { type: 'turn_ended', messageId: 'msg_1', outcome: 'completed' },
        { type: 'title_suggested', title: 'A title' },
        { type: 'mode_changed', permissionMode: 'bypass' },
        { type: 'model_changed', modelId: 'big' },
      ),
    );
    const now = await session();
    expect(now).toMatchObject({
      status: 'idle',
      permissionMode: 'bypass',
      modelId: 'big',
      title: 'A title',
      titleSource: 'agent',
      lastSeq: 12,
      updatedAt: '2026-11-30T12:00:01.000Z',
    });
    expect(now).not.toHaveProperty('permission');
    expect(await messages.get('msg_1')).toMatchObject({ status: 'completed', reply: 'the reply' });
    expect((await sessions.list({ query: 'a TITLE' }, { limit: 1 })).items).toHaveLength(1);
  });

  test('the reply of a long turn is its last block, whole', async () => {
    await world.store.messages.insert(newMessage('msg_1', 'sess_a'));
    let seq = 1;
    const texts = (block: number, count: number) =>
      Array.from({ length: count }, (_, i) => agentText(`${block}.${i} `, block));
    for (const [block, count] of [
      [1, 700],
      [2, 1234],
    ] as const) {
      const events = toEvents(world.runtime, seq, ...texts(block, count));
      await append(events);
      seq += count;
    }
    const { ackedSeq } = await append(
      toEvents(world.runtime, seq, { type: 'turn_ended', messageId: 'msg_1', outcome: 'completed' }),
    );
    expect(ackedSeq).toBe(seq);
    const expected = Array.from({ length: 1234 }, (_, i) => `2.${i} `).join('');
    expect((await world.store.messages.get('msg_1'))?.reply).toBe(expected);
  });

  test("an agent's title never replaces the user's", async () => {
    await world.store.sessions.setTitle('sess_a', 'Mine');
    await append(toEvents(world.runtime, 1, { type: 'title_suggested', title: 'Its' }));
    expect(await session()).toMatchObject({ title: 'Mine', titleSource: 'user' });
  });

  test('reasons are kept, and cleared by the next turn', async () => {
    const { messages } = world.store;
    await messages.insert(newMessage('msg_1', 'sess_a'));
    const reason = { code: 'agent_failed', message: 'exit code 7' };
    await append(
      toEvents(
        world.runtime,
        1,
        { type: 'turn_ended', messageId: 'msg_1', outcome: 'failed', reason },
        { type: 'session_stopped', reason },
      ),
    );
    expect(await session()).toMatchObject({ status: 'stopped', reason });
    expect(await messages.get('msg_1')).toMatchObject({ status: 'failed', reason });
    await append(toEvents(world.runtime, 3, { type: 'user_message', messageId: 'msg_2', text: 'again' }));
    expect(await session()).not.toHaveProperty('reason');
    expect((await session()).status).toBe('running');
  });

  test('events of messages that nobody stored, and of unknown types, are kept', async () => {
    const { messages, sessions } = world.store;
    await sessions.insert(newSession('sess_b'));
    await messages.insert(newMessage('msg_b', 'sess_b'));
    const strange = { type: 'from_the_future', seq: 4, at: world.runtime.now().toISOString(), more: [1] };
    const { ackedSeq } = await append([
      ...toEvents(
        world.runtime,
        1,
        { type: 'user_message', messageId: 'msg_unknown', text: 'hi' },
        { type: 'turn_ended', messageId: 'msg_unknown', outcome: 'completed' },
        { type: 'turn_ended', messageId: 'msg_b', outcome: 'completed' },
      ),
      strange as unknown as SessionEvent,
    ]);
    expect(ackedSeq).toBe(4);
    expect((await transcript()).at(-1)).toStrictEqual(strange);
    // A session says nothing of another one's messages.
    expect((await messages.get('msg_b'))?.status).toBe('queued');
  });

  test('what is appended is told once, after it can be read', async () => {
    const { feed, messages, transcripts } = world.store;
    await messages.insert(newMessage('msg_1', 'sess_a'));
    const heard: unknown[] = [];
    const reads: Promise<{ lastSeq: number }>[] = [];
    feed.subscribe((entry) => {
      heard.push(entry);
      if (entry.type === 'transcript.appended') reads.push(transcripts.page('sess_a', { limit: 1 }));
    });
    const events = toEvents(
      world.runtime,
      1,
      { type: 'user_message', messageId: 'msg_1', text: 'say hello' },
      agentText('hello'),
      { type: 'turn_ended', messageId: 'msg_1', outcome: 'completed' },
    );
    await append(events);
    await append(events);
    const at = '2026-11-30T12:00:00.000Z';
    expect(heard).toStrictEqual([
      { type: 'session.changed', sessionId: 'sess_a', waits: false, id: 3, at },
      { type: 'message.changed', sessionId: 'sess_a', messageId: 'msg_1', id: 4, at },
      { type: 'transcript.appended', sessionId: 'sess_a', fromSeq: 1, toSeq: 3, id: 5, at },
    ]);
    expect(await feed.since(2, 10)).toStrictEqual(heard);
    expect((await Promise.all(reads)).map((page) => page.lastSeq)).toEqual([3]);
  });
}
