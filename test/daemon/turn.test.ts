import { expect, test, vi } from 'vitest';
import { groupIsGone } from './helpers/processes.ts';
import { assertGapless, createWorld, fakeAgent } from './helpers/world.ts';

test('text that comes byte by byte, or cut inside a character, arrives whole', async () => {
  const world = await createWorld({ agents: [fakeAgent('bytes')] });
  await world.start('s1', 'bytes');
  expect(await world.turn('s1', 'go')).toMatchObject({ outcome: 'completed', reply: '— 漢 🧑‍🚀 e\u0301🧑' });
});

test('updates of every kind become events; what has no event of its own is kept as a notice', async () => {
  const world = await createWorld({ agents: [fakeAgent('strange')] });
  await world.start('s1', 'strange');
  const { outcome, reply } = await world.turn('s1', 'go');
  expect({ outcome, reply }).toEqual({ outcome: 'completed', reply: 'done' });
  const events = world.backend.events('s1').slice(2);
  assertGapless(world.backend.events('s1'));
  expect(events.map((event) => event.type)).toEqual([
    'tool_call',
    'tool_call',
    'tool_call',
    'notice',
    'notice',
    'plan',
    'agent_thought',
    // A title is about the session and does not part the text.
    'title_suggested',
    'agent_text',
    'turn_ended',
  ]);
  expect(events[2]).toMatchObject({
    toolCallId: 'early',
    title: 'Late',
    kind: 'novel_kind',
    status: 'in_progress',
    content: { rawInput: { a: 1 }, content: [{ type: 'content' }] },
  });
  expect(events[3]).toMatchObject({ data: { sessionUpdate: 'hologram', shape: 'cube' } });
  expect(events[4]).toMatchObject({ data: { content: { type: 'smell', of: 'roses' } } });
  expect(events[6]).toMatchObject({ block: 0 });
  expect(events[8]).toMatchObject({ block: 1 });
  expect(world.log('s1')).toContain('plain text in between');
});

test('a repeated update is no progress; the turn can be stopped', async () => {
  const world = await createWorld({ agents: [fakeAgent('repeats')] });
  await world.start('s1', 'repeats');
  const messageId = await world.send('s1', 'go');
  await world.backend.event('s1', 'tool_call');
  expect(await world.backend.request('session.interrupt', { sessionId: 's1' })).toEqual({
    interrupted: true,
  });
  expect(world.backend.events('s1').filter((event) => event.type === 'tool_call')).toHaveLength(1);
  expect(world.backend.events('s1').at(-1)).toMatchObject({
    type: 'turn_ended',
    messageId,
    outcome: 'canceled',
  });
  expect(await world.backend.request('session.interrupt', { sessionId: 's1' })).toEqual({
    interrupted: false,
  });
});

test('a flood without a line break fails its agent and nobody else', async () => {
  const world = await createWorld({ agents: [fakeAgent('flood')] });
  await Promise.all([world.start('s1', 'flood'), world.start('s2', 'demo')]);
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  const [flood, other] = await Promise.all([world.turn('s1', 'go'), world.turn('s2', 'say still here')]);
  clearInterval(watch);
  expect(flood).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/33554432 bytes without a line break/),
  });
  expect(other).toMatchObject({ outcome: 'completed', reply: 'still here' });
  expect(peak - before).toBeLessThan(200 * 1024 * 1024);
  await world.backend.event('s1', 'session_failed');
});

test('a long message is stored in pieces, a flood of small ones in few events', async () => {
  const world = await createWorld({ agents: [fakeAgent('long-line'), fakeAgent('text-flood')] });
  await Promise.all([world.start('s1', 'long-line'), world.start('s2', 'text-flood')]);
  const long = await world.turn('s1', '3000000');
  expect(long.outcome).toBe('completed');
  expect(long.reply).toBe('y'.repeat(3_000_000));
  const flood = await world.turn('s2', '20000');
  expect(flood.reply.length).toBe(20_000_000);
  const texts = world.backend.events('s2').filter((event) => event.type === 'agent_text');
  expect(texts.length).toBeLessThan(5000);
  assertGapless(world.backend.events('s2'));
});

test('an agent that dies in mid-turn fails the turn and the session; the next message starts it again', async () => {
  const world = await createWorld();
  await world.start('s1');
  expect(await world.turn('s1', 'crash')).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('exited with code 7'),
  });
  const failed = await world.backend.event('s1', 'session_failed');
  expect(failed.reason.code).toBe('agent_failed');
  expect(await world.turn('s1', '@say back')).toMatchObject({ outcome: 'completed', reply: 'back' });
  const started = world.backend.events('s1').filter((event) => event.type === 'session_started');
  expect(started.map((event) => event.resumed)).toEqual(['new', 'replayed']);
  expect(world.backend.events('s1').some((event) => event.type === 'notice')).toBe(true);
});

test('the last words of a dying agent are kept, on both of its outputs', async () => {
  const world = await createWorld({ agents: [fakeAgent('dies')] });
  await world.start('s1', 'dies');
  const { outcome, reply, reason } = await world.turn('s1', 'go');
  expect({ outcome, reply }).toEqual({ outcome: 'failed', reply: 'some last words' });
  expect(reason).toMatch(/exited with code 9.*it hurts/s);
});

test('an error instead of an end fails the turn alone', async () => {
  const world = await createWorld({
    agents: [fakeAgent('errors', { signIn: 'Sign in first.' }), fakeAgent('no-stop-reason')],
  });
  await Promise.all([world.start('s1', 'errors'), world.start('s2', 'no-stop-reason')]);
  const failed = await world.turn('s1', 'go');
  expect(failed).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/nobody signed in.*no key/s),
  });
  expect(await world.turn('s2', 'go')).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('stop reason'),
  });
  expect(world.daemon.status().sessions.map((session) => session.status)).toEqual(['idle', 'idle']);
});

test('an agent killed while idle ends its session, and the next message brings it back', async () => {
  const world = await createWorld({ agents: [fakeAgent('resumes')] });
  await world.start('s1', 'resumes');
  const { reply } = await world.turn('s1', 'pid');
  process.kill(Number(reply), 'SIGKILL');
  expect((await world.backend.event('s1', 'session_failed')).reason.message).toContain('SIGKILL');
  const { reply: received } = await world.turn('s1', 'received');
  expect(JSON.parse(received).map((call: { method: string }) => call.method)).toContain('session/load');
  const events = world.backend.events('s1');
  expect(events.findLast((event) => event.type === 'session_started')).toMatchObject({
    resumed: 'loaded',
  });
  // What the agent replays is already in the transcript.
  expect(JSON.stringify(events)).not.toContain('replayed');
});

test('a turn that does not end after an interrupt is ended with its agent', async () => {
  const world = await createWorld({ agents: [fakeAgent('deaf-to-cancel')], limits: { interruptMs: 300 } });
  await world.start('s1', 'deaf-to-cancel');
  const pid = world.daemon.status().sessions[0]?.pid as number;
  const messageId = await world.send('s1', 'go');
  await world.backend.event('s1', 'agent_text');
  await world.backend.request('session.interrupt', { sessionId: 's1' });
  const events = world.backend.events('s1');
  expect(events.at(-2)).toMatchObject({ type: 'turn_ended', messageId, outcome: 'canceled' });
  expect(events.at(-1)).toMatchObject({ type: 'session_stopped' });
  await groupIsGone(pid, 5000);
});

test('an agent that refuses the cancel with an error still ends its turn', async () => {
  const world = await createWorld({ agents: [fakeAgent('cancel-error')] });
  await world.start('s1', 'cancel-error');
  await world.send('s1', 'go');
  await world.backend.event('s1', 'user_message');
  await world.backend.request('session.interrupt', { sessionId: 's1' });
  expect(world.backend.events('s1').at(-1)).toMatchObject({ type: 'turn_ended', outcome: 'canceled' });
});

test('messages run one at a time in their order; the same message delivered again is one', async () => {
  const world = await createWorld();
  await world.start('s1');
  const first = await world.send('s1', 'sleep 1', { messageId: 'm1' });
  await world.send('s1', 'say second', { messageId: 'm2' });
  await Promise.all([
    world.send('s1', 'sleep 1', { messageId: first }),
    world.send('s1', 'say second', { messageId: 'm2' }),
  ]);
  await world.backend.event('s1', 'turn_ended', (event) => event.messageId === 'm2');
  await world.send('s1', 'say second', { messageId: 'm2' });
  await world.turn('s1', 'say third', { messageId: 'm3' });
  const order = world.backend
    .events('s1')
    .flatMap((event) =>
      event.type === 'user_message' || event.type === 'turn_ended'
        ? [`${event.type} ${event.messageId}`]
        : [],
    );
  expect(order).toEqual(['m1', 'm2', 'm3'].flatMap((id) => [`user_message ${id}`, `turn_ended ${id}`]));
  await world.start('s2');
  await expect(world.send('s2', 'say other', { messageId: 'm1' })).rejects.toMatchObject({
    code: 'conflict',
  });
  await expect(world.send('nowhere', 'hi')).rejects.toMatchObject({ code: 'session_not_found' });
});

test('a stop cancels the turn and the queue; it can be done twice; a message starts the agent again', async () => {
  const world = await createWorld();
  await world.start('s1');
  await world.send('s1', 'sleep 30', { messageId: 'm1' });
  await world.send('s1', 'say never', { messageId: 'm2' });
  await world.backend.event('s1', 'user_message');
  await Promise.all([
    world.backend.request('session.stop', { sessionId: 's1' }),
    world.backend.request('session.stop', { sessionId: 's1' }),
  ]);
  await world.backend.request('session.stop', { sessionId: 's1' });
  const ends = world.backend
    .events('s1')
    .filter((event) => ['turn_ended', 'message_canceled', 'session_stopped'].includes(event.type));
  expect(ends).toMatchObject([
    { type: 'message_canceled', messageId: 'm2' },
    { type: 'turn_ended', messageId: 'm1', outcome: 'canceled' },
    { type: 'session_stopped' },
  ]);
  expect(await world.turn('s1', '@say again')).toMatchObject({ outcome: 'completed', reply: 'again' });
});

test('when the agent cannot be started again, what is queued ends with the reason', async () => {
  const world = await createWorld({ agents: [fakeAgent('dies')] });
  await world.start('s1', 'dies');
  await world.turn('s1', 'go');
  const { rmSync } = await import('node:fs');
  rmSync(world.workspace, { recursive: true });
  await world.send('s1', 'one', { messageId: 'm1' });
  const two = await world.turn('s1', 'two', { messageId: 'm2' });
  expect(two).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('does not exist') });
  expect(world.backend.events('s1').filter((event) => event.type === 'turn_ended')).toHaveLength(3);
  expect(world.backend.events('s1').at(-1)).toMatchObject({
    type: 'session_failed',
    reason: { code: 'session_directory_unavailable' },
  });
});

test('the daemon’s stop cancels turns, ends agents and keeps the queue for the next start', async () => {
  const world = await createWorld();
  await world.start('s1');
  const pid = world.daemon.status().sessions[0]?.pid as number;
  await world.send('s1', 'sleep 30', { messageId: 'm1' });
  await world.send('s1', 'say later', { messageId: 'm2' });
  await world.backend.event('s1', 'user_message');
  await world.daemon.stop({ graceMs: 1000 });
  await groupIsGone(pid, 1000);
  expect(world.backend.events('s1').slice(-2)).toMatchObject([
    {
      type: 'turn_ended',
      messageId: 'm1',
      outcome: 'canceled',
      reason: { code: 'daemon_not_running', message: expect.stringContaining('daemon was stopped') },
    },
    { type: 'session_stopped', reason: { code: 'daemon_not_running' } },
  ]);
  expect(world.daemon.status().outbox.events).toBe(0);
  const next = await createWorld({ home: world.home, backend: world.backend });
  await world.backend.event(
    's1',
    'turn_ended',
    (event) => event.messageId === 'm2' && event.outcome === 'completed',
  );
  assertGapless(world.backend.events('s1'));
  await vi.waitFor(() => expect(next.daemon.status().outbox.events).toBe(0), 10_000);
});
