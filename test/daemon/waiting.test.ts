import { expect, test } from 'vitest';
import { groupIsGone } from './helpers/processes.ts';
import { makePlace, type Place, status } from './helpers/place.ts';
import { assertGapless, fakeAgent } from './helpers/world.ts';

const LOADS = { env: { FAKE_CAPABILITIES: JSON.stringify({ loadSession: true }) } };

const answer = (place: Place, requestId: string, optionId: string, sessionId = 's1') =>
  place.backend.request('session.answer', { sessionId, requestId, optionId, by: 'phone' });

/** The text of a message's last block. */
const replyOf = (place: Place, messageId: string, sessionId = 's1') =>
  place.backend
    .events(sessionId)
    .flatMap((event) => (event.type === 'agent_text' && event.messageId === messageId ? [event.text] : []))
    .join('');

const endOf = (place: Place, messageId: string, sessionId = 's1') =>
  place.backend.event(sessionId, 'turn_ended', (event) => event.messageId === messageId);

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`a permission request outlives its daemon's ${signal}: the same request, the same turn, used once`, async () => {
    const place = await makePlace({ agents: [fakeAgent('asks-twice', LOADS)] });
    const first = await place.run();
    await place.start('s1', 'asks-twice');
    await place.deliver('s1', 'm1', 'go');
    await place.deliver('s1', 'm2', 'received');
    const asked = await place.backend.event('s1', 'permission_requested');
    const { requestId } = asked.request;
    const pid = (await status(first.port)).sessions[0]?.pid as number;
    await first.kill(signal);
    await groupIsGone(pid);

    const second = await place.run();
    const session = (await status(second.port)).sessions[0];
    expect(session).toMatchObject({ sessionId: 's1', status: 'waiting', queued: 1 });
    expect(session?.pid).toBeUndefined();
    expect(place.backend.events('s1').at(-1)).toMatchObject({ type: 'permission_requested', seq: asked.seq });
    await expect(answer(place, requestId, 'nonsense')).rejects.toMatchObject({ code: 'invalid_input' });
    await answer(place, requestId, 'a1');
    // Once more, as somebody sends it who did not hear that it arrived.
    await answer(place, requestId, 'a1');
    const again = await place.backend.event(
      's1',
      'permission_requested',
      (event) => event.request.requestId !== requestId && event.seq > asked.seq + 4,
    );
    const started = await place.backend.event('s1', 'session_started', (event) => event.seq > asked.seq);
    expect(started).toMatchObject({ resumed: 'loaded', continues: 'm1' });
    expect((await status(second.port)).sessions[0]?.status).toBe('waiting');
    await answer(place, requestId, 'a1');
    await expect(answer(place, requestId, 'r1')).rejects.toMatchObject({ code: 'not_found' });
    await answer(place, again.request.requestId, 'r1');
    expect(await endOf(place, 'm1')).toMatchObject({ outcome: 'completed' });
    const { text, chosen } = JSON.parse(replyOf(place, 'm1'));
    expect(chosen).toEqual(['a1', 'r1']);
    expect(text).toMatch(/restarted while you waited for the permission "do t1".*now allowed/s);
    await endOf(place, 'm2');
    const events = place.backend.events('s1');
    assertGapless(events);
    expect(events.filter((event) => event.type === 'user_message').map((event) => event.messageId)).toEqual([
      'm1',
      'm2',
    ]);
    expect(
      events.flatMap((event) =>
        event.type === 'permission_resolved' ? [`${event.outcome} ${event.by}`] : [],
      ),
    ).toEqual(['allowed phone', 'allowed phone', 'refused phone']);
  });
}

test('a refusal after the restart reaches the agent as one, and is no answer to a later request', async () => {
  const place = await makePlace({ agents: [fakeAgent('asks-twice', LOADS)] });
  const first = await place.run();
  await place.start('s1', 'asks-twice');
  await place.deliver('s1', 'm1', 'go');
  const { request } = await place.backend.event('s1', 'permission_requested');
  await first.kill('SIGKILL');
  await place.run();
  await answer(place, request.requestId, 'r1');
  const next = await place.backend.event(
    's1',
    'permission_requested',
    (event) => event.request.requestId !== request.requestId,
  );
  await answer(place, next.request.requestId, 'a2');
  const last = await place.backend.event('s1', 'permission_requested', (event) => event.seq > next.seq);
  await answer(place, last.request.requestId, 'a2');
  await endOf(place, 'm1');
  const { text, chosen } = JSON.parse(replyOf(place, 'm1'));
  expect(text).toContain('It was refused');
  expect(chosen).toEqual(['a2', 'a2']);
});

test('what was allowed before the restart is not what is asked after it, where only the title is the same', async () => {
  const place = await makePlace({ agents: [fakeAgent('asks-else', LOADS)] });
  const first = await place.run();
  await place.start('s1', 'asks-else');
  await place.deliver('s1', 'm1', 'go');
  const { request, seq } = await place.backend.event('s1', 'permission_requested');
  await first.kill('SIGKILL');
  await place.run();
  await answer(place, request.requestId, 'a1');
  const next = await place.backend.event('s1', 'permission_requested', (event) => event.seq > seq);
  expect(next.request.title).toBe(request.title);
  await answer(place, next.request.requestId, 'r1');
  await endOf(place, 'm1');
  expect(replyOf(place, 'm1')).toBe('r1 two');
});

test('killed between the answer and the agent’s start: the answer is kept and the turn goes on', async () => {
  const place = await makePlace({ agents: [fakeAgent('asks-twice', LOADS), fakeAgent('silent')] });
  const first = await place.run();
  await place.start('s1', 'asks-twice');
  await place.deliver('s1', 'm1', 'go');
  const { request } = await place.backend.event('s1', 'permission_requested');
  await first.kill('SIGKILL');
  const second = await place.run();
  await answer(place, request.requestId, 'a1');
  await second.kill('SIGKILL');
  await place.run();
  const next = await place.backend.event('s1', 'permission_requested', (event) => event.seq > 8);
  await answer(place, next.request.requestId, 'r1');
  const end = await endOf(place, 'm1');
  // Where the second daemon had already told the agent, the turn was in the middle of something that nobody knows.
  if (end.outcome === 'completed') expect(JSON.parse(replyOf(place, 'm1')).chosen).toEqual(['a1', 'r1']);
  else expect(end.reason?.message).toContain('during this turn');
  assertGapless(place.backend.events('s1'));
});

test('while nobody answers it can be interrupted or stopped, and what is queued runs', async () => {
  const place = await makePlace({ agents: [fakeAgent('asks-twice', LOADS)] });
  const first = await place.run();
  for (const sessionId of ['s1', 's2']) {
    await place.start(sessionId, 'asks-twice');
    await place.deliver(sessionId, `${sessionId}-m1`, 'go');
    await place.backend.event(sessionId, 'permission_requested');
  }
  await first.kill('SIGKILL');
  await place.run();
  await place.deliver('s1', 's1-m2', 'received');
  expect(await place.backend.request('session.interrupt', { sessionId: 's1' })).toEqual({
    interrupted: true,
  });
  expect(await endOf(place, 's1-m1')).toMatchObject({ outcome: 'canceled' });
  expect(await place.backend.event('s1', 'permission_resolved')).toMatchObject({
    outcome: 'canceled',
    by: 'interrupt',
  });
  expect(await place.backend.request('session.interrupt', { sessionId: 's1' })).toMatchObject({});
  await place.deliver('s1', 's1-m3', 'received');
  expect(await endOf(place, 's1-m3')).toMatchObject({ outcome: 'completed' });

  await place.backend.request('session.stop', { sessionId: 's2' });
  expect(place.backend.events('s2').slice(-3)).toMatchObject([
    { type: 'permission_resolved', outcome: 'canceled' },
    { type: 'turn_ended', messageId: 's2-m1', outcome: 'canceled' },
    { type: 'session_stopped' },
  ]);
});

test('an agent that cannot come back to its conversation fails the turn by the name of what it waited for', async () => {
  const place = await makePlace();
  const first = await place.run();
  await place.start('s1');
  await place.deliver('s1', 'm1', 'ask to dance');
  const { request } = await place.backend.event('s1', 'permission_requested');
  await first.kill('SIGKILL');
  await place.run();
  const end = await endOf(place, 'm1');
  expect(end).toMatchObject({ outcome: 'failed', reason: { code: 'agent_failed' } });
  expect(end.reason?.message).toContain('"to dance"');
  await expect(answer(place, request.requestId, 'yes')).rejects.toMatchObject({ code: 'not_found' });
});

test('a question outlives its daemon too, and a request that nobody answers ends at its own limit', async () => {
  const place = await makePlace({ demoKeeps: true, limits: { permissionMs: 4000 } });
  const first = await place.run();
  await place.start('s1');
  await place.start('s2');
  await place.deliver('s1', 'm1', 'question Which way?');
  await place.deliver('s2', 'm2', 'ask to dance');
  const { request } = await place.backend.event('s1', 'question_asked');
  await place.backend.event('s2', 'permission_requested');
  await first.kill('SIGKILL');
  await place.run();
  await place.backend.request('session.answer_question', {
    sessionId: 's1',
    requestId: request.requestId,
    answer: 'accept',
    content: { answer: 'left' },
    by: 'app',
  });
  expect(await endOf(place, 'm1')).toMatchObject({ outcome: 'completed' });
  expect(replyOf(place, 'm1')).toMatch(/"Which way\?".*\{"answer":"left"\}/s);
  expect(await endOf(place, 'm2', 's2')).toMatchObject({ outcome: 'completed' });
  expect(await place.backend.event('s2', 'permission_resolved')).toMatchObject({
    outcome: 'refused',
    by: 'nobody within 4 s',
  });
});
