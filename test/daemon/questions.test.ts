import { expect, test } from 'vitest';
import { toQuestion } from '../../src/daemon/session/questions.ts';
import { createWorld, fakeAgent, type World } from './helpers/world.ts';

const FORM = {
  mode: 'form',
  message: 'How shall it be?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', description: 'Of the thing' },
      count: { type: 'integer', minimum: 1 },
      color: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }, { const: 'b' }] },
      tags: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
      loud: { type: 'boolean' },
      odd: { type: 'hologram' },
    },
    required: ['name'],
  },
};

const answer = (world: World, requestId: string, more: Record<string, unknown>) =>
  world.backend.request('session.answer_question', {
    sessionId: 's1',
    requestId,
    answer: 'accept',
    by: 'app',
    ...more,
  });

test('a question is put to a person, its answer is checked by its fields and reaches the agent', async () => {
  const world = await createWorld({ agents: [fakeAgent('asks')] });
  await world.start('s1', 'asks');
  const turn = world.turn('s1', `?${JSON.stringify(FORM)}`);
  const { request } = await world.backend.event('s1', 'question_asked');
  expect(request).toMatchObject({
    message: 'How shall it be?',
    fields: [
      { name: 'name', title: 'Name', description: 'Of the thing', type: 'text', required: true },
      { name: 'count', type: 'integer', required: false },
      {
        name: 'color',
        type: 'choice',
        options: [
          { id: 'r', name: 'Red' },
          { id: 'b', name: 'b' },
        ],
      },
      { name: 'tags', type: 'choices', options: [{ id: 'x' }, { id: 'y' }] },
      { name: 'loud', type: 'boolean' },
      { name: 'odd', type: 'text' },
    ],
  });
  expect(world.daemon.status().sessions[0]?.status).toBe('waiting');
  const { requestId } = request;
  for (const [content, field] of [
    [{}, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: 'n', count: 1.5 }, 'count'],
    [{ name: 'n', color: 'green' }, 'color'],
    [{ name: 'n', tags: ['x', 'z'] }, 'tags'],
    [{ name: 'n', loud: 'yes' }, 'loud'],
    [{ name: 'n', nmae: 'm' }, 'nmae'],
  ] as const) {
    await expect(answer(world, requestId, { content })).rejects.toMatchObject({
      code: 'invalid_input',
      details: { issues: [{ path: `content.${field}` }] },
    });
  }
  // It is no permission request, whatever its id says.
  await expect(
    world.backend.request('session.answer', { sessionId: 's1', requestId, by: 'app' }),
  ).rejects.toMatchObject({ code: 'not_found' });
  const content = { name: 'n', count: 2, color: 'b', tags: ['y'], loud: null };
  await answer(world, requestId, { content });
  expect(JSON.parse((await turn).reply)).toEqual({
    action: 'accept',
    content: { name: 'n', count: 2, color: 'b', tags: ['y'] },
  });
  expect(await world.backend.event('s1', 'question_answered')).toMatchObject({
    requestId,
    answer: 'accept',
    by: 'app',
  });
  await expect(answer(world, requestId, { content })).rejects.toMatchObject({ code: 'not_found' });
});

test('a question can be declined; a stop leaves it open; nobody’s answer is none', async () => {
  const world = await createWorld({ agents: [fakeAgent('asks')], limits: { permissionMs: 60_000 } });
  await world.start('s1', 'asks');
  const declined = world.turn('s1', `?${JSON.stringify(FORM)}`);
  const first = await world.backend.event('s1', 'question_asked');
  await answer(world, first.request.requestId, { answer: 'decline' });
  expect(JSON.parse((await declined).reply)).toEqual({ action: 'decline' });
  await world.send('s1', `?${JSON.stringify(FORM)}`);
  await world.backend.event('s1', 'question_asked', (event) => event.seq > first.seq);
  await world.backend.request('session.interrupt', { sessionId: 's1' });
  const ends = world.backend.events('s1').filter(({ type }) => /^(question_answered|turn_ended)$/.test(type));
  expect(ends.slice(-2)).toMatchObject([
    { type: 'question_answered', answer: 'cancel', by: 'interrupt' },
    { type: 'turn_ended', outcome: 'canceled' },
  ]);

  const quick = await createWorld({ agents: [fakeAgent('asks')], limits: { permissionMs: 200 } });
  await quick.start('s1', 'asks');
  expect(JSON.parse((await quick.turn('s1', `?${JSON.stringify(FORM)}`)).reply)).toEqual({
    action: 'cancel',
  });
  expect((await quick.backend.event('s1', 'notice')).text).toMatch(/How shall it be\?.*inbox/);
});

test('one thing at a time is put to a person, and what its mode answers does not wait for that', async () => {
  const world = await createWorld({ agents: [fakeAgent('asks-both')] });
  await world.start('s1', 'asks-both', { permissionMode: 'accept_edits' });
  const turn = world.turn('s1', JSON.stringify({ ...FORM, requestedSchema: { properties: {} } }));
  const { request } = await world.backend.event('s1', 'permission_requested');
  expect(request.title).toBe('do t1');
  // The agent goes on with its edit while the other two wait.
  await world.backend.event('s1', 'agent_text');
  expect(world.backend.events('s1').some((event) => event.type === 'question_asked')).toBe(false);
  await world.backend.request('session.answer', {
    sessionId: 's1',
    requestId: request.requestId,
    optionId: 'r1',
    by: 'app',
  });
  const asked = await world.backend.event('s1', 'question_asked');
  expect(asked.request.fields).toEqual([]);
  await answer(world, asked.request.requestId, {});
  expect((await turn).reply).toBe(
    ' {"outcome":{"outcome":"selected","optionId":"r1"}} {"action":"accept","content":{}}',
  );
  const said = await world.backend.event('s1', 'agent_text');
  expect(said.text).toBe('{"outcome":"selected","optionId":"a1"}');
  const order = world.backend
    .events('s1')
    .flatMap((event) =>
      event.type === 'permission_resolved'
        ? [`${event.outcome} ${event.by}`]
        : event.type === 'question_asked'
          ? ['question']
          : [],
    );
  expect(order).toEqual(['refused app', 'allowed mode:accept_edits', 'question']);
});

test('a form that is no form is still a question within bounds', () => {
  expect(toQuestion('q', {})).toEqual({ requestId: 'q', message: 'The agent asks.', fields: [] });
  const properties = Object.fromEntries(
    Array.from({ length: 300 }, (_, i) => [`f${i}`, { type: 'string', title: 't'.repeat(5000) }]),
  );
  const question = toQuestion('q', { message: 'm'.repeat(1e6), requestedSchema: { properties } });
  expect(question.fields).toHaveLength(50);
  expect(JSON.stringify(question).length).toBeLessThan(60_000);
  expect(toQuestion('q', { requestedSchema: { properties: { a: null, b: [] } } }).fields).toEqual([
    { name: 'a', type: 'text', required: false },
    { name: 'b', type: 'text', required: false },
  ]);
});

test('what the agent said before its question stands before it, and what it says after the answer after it', async () => {
  const world = await createWorld({ agents: [fakeAgent('talks-then-asks')] });
  await world.start('s1', 'talks-then-asks');
  const turn = world.turn('s1', JSON.stringify({ mode: 'form', message: 'Go on?' }));
  const { request } = await world.backend.event('s1', 'question_asked');
  await answer(world, request.requestId, {});
  expect(await turn).toMatchObject({ reply: 'after' });
  expect(
    world.backend.events('s1').flatMap((event) => {
      if (event.type === 'agent_text') return [event.text];
      return event.type.startsWith('question') ? [event.type] : [];
    }),
  ).toEqual(['before', 'question_asked', 'question_answered', 'after']);
});
