import { expect, test } from 'vitest';
import type { PermissionMode } from '../../src/core/session.ts';
import { judge } from '../../src/daemon/session/policy.ts';
import { createWorld, fakeAgent } from './helpers/world.ts';

test('a person’s answer reaches the agent', async () => {
  const world = await createWorld();
  await world.start('s1');
  for (const [optionId, reply, outcome] of [
    ['yes', 'granted', 'allowed'],
    ['no', 'refused', 'refused'],
  ] as const) {
    const before = world.backend.events('s1').length;
    const turn = world.turn('s1', 'ask to dance');
    const { request } = await world.backend.event(
      's1',
      'permission_requested',
      (event) => event.seq > before,
    );
    expect(request.title).toBe('to dance');
    expect(request.options.map((option) => option.kind)).toEqual([
      'allow_once',
      'allow_always',
      'reject_once',
    ]);
    expect(world.daemon.status().sessions[0]?.status).toBe('waiting');
    const answer = { sessionId: 's1', requestId: request.requestId, optionId, by: 'cli' };
    await expect(
      world.backend.request('session.answer', { ...answer, optionId: 'nonsense' }),
    ).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('yes, always, no'),
    });
    await world.backend.request('session.answer', answer);
    expect(await turn).toMatchObject({ outcome: 'completed', reply });
    const resolved = await world.backend.event(
      's1',
      'permission_resolved',
      (event) => event.requestId === request.requestId,
    );
    expect(resolved).toMatchObject({ outcome, optionId, by: 'cli' });
    await expect(world.backend.request('session.answer', answer)).rejects.toMatchObject({
      code: 'not_found',
    });
  }
});

test('an interrupt answers every open request as cancelled', async () => {
  const world = await createWorld({ agents: [fakeAgent('two-permissions')] });
  await world.start('s1', 'two-permissions');
  await world.send('s1', 'go');
  const { request } = await world.backend.event('s1', 'permission_requested');
  await world.backend.request('session.interrupt', { sessionId: 's1' });
  const events = world.backend.events('s1');
  // A session shows one request at a time: the second one was never put to anybody.
  expect(events.filter((event) => event.type === 'permission_requested')).toHaveLength(1);
  expect(events.filter((event) => event.type === 'permission_resolved')).toMatchObject([
    { requestId: request.requestId, outcome: 'canceled' },
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'turn_ended', outcome: 'canceled' });
  const received = JSON.parse((await world.turn('s1', 'received')).reply) as Record<string, unknown>[];
  expect(received.find((entry) => 'outcomes' in entry)).toEqual({
    outcomes: [{ outcome: 'cancelled' }, { outcome: 'cancelled' }],
  });
  expect(received.some((entry) => entry.method === 'session/cancel')).toBe(true);
});

test('two requests are put one after the other', async () => {
  const world = await createWorld({ agents: [fakeAgent('two-permissions')] });
  await world.start('s1', 'two-permissions');
  await world.send('s1', 'go');
  const first = await world.backend.event('s1', 'permission_requested');
  await world.backend.request('session.answer', {
    sessionId: 's1',
    requestId: first.request.requestId,
    optionId: 'a1',
    by: 'app',
  });
  const second = await world.backend.event('s1', 'permission_requested', (event) => event.seq > first.seq);
  expect(world.daemon.status().sessions[0]?.status).toBe('waiting');
  await world.backend.request('session.answer', {
    sessionId: 's1',
    requestId: second.request.requestId,
    by: 'app',
  });
  await world.backend.event('s1', 'turn_ended');
  const received = JSON.parse((await world.turn('s1', 'received')).reply) as Record<string, unknown>[];
  expect(received.find((entry) => 'outcomes' in entry)).toEqual({
    outcomes: [{ outcome: 'selected', optionId: 'a1' }, { outcome: 'cancelled' }],
  });
});

test('a request that nobody answers is refused at the limit, with a reject option', async () => {
  const world = await createWorld({ agents: [fakeAgent('permits')], limits: { permissionMs: 200 } });
  await world.start('s1', 'permits');
  expect(JSON.parse((await world.turn('s1', 'edit')).reply)).toEqual({ outcome: 'selected', optionId: 'r1' });
  expect(await world.backend.event('s1', 'permission_resolved')).toMatchObject({
    outcome: 'refused',
    by: expect.stringContaining('0.2 s'),
  });
});

test('the mode judges what the agent asks, by the kind of the option and not its place', async () => {
  const world = await createWorld({
    agents: [
      fakeAgent('permits', {
        modes: { default: ['one'], read_only: ['two'], accept_edits: ['two'], bypass: ['three'] },
      }),
    ],
  });
  await world.start('s1', 'permits', { permissionMode: 'read_only' });
  const asked = async (kind: string) => JSON.parse((await world.turn('s1', kind)).reply).optionId;
  expect(await asked('execute')).toBe('r1');
  await world.backend.request('session.set_mode', { sessionId: 's1', permissionMode: 'accept_edits' });
  expect(await asked('{"kind":"edit","locations":[{"path":"file"}]}')).toBe('a1');
  await world.backend.request('session.set_mode', { sessionId: 's1', permissionMode: 'bypass' });
  expect(await asked('delete')).toBe('a1');
  expect(
    world.backend
      .events('s1')
      .filter((event) => event.type === 'permission_resolved')
      .map((event) => [event.outcome, event.by]),
  ).toEqual([
    ['refused', 'mode:read_only'],
    ['allowed', 'mode:accept_edits'],
    ['allowed', 'mode:bypass'],
  ]);
});

test('what each mode says of each kind', () => {
  const kinds = [
    'read',
    'search',
    'think',
    'fetch',
    'edit',
    'execute',
    'delete',
    'move',
    'switch_mode',
    'other',
    'novel',
  ];
  const row = (mode: PermissionMode, inside = true) =>
    kinds.map((kind) => judge(mode, kind, inside)).join(' ');
  expect(row('default')).toBe('ask ask ask ask ask ask ask ask ask ask ask');
  expect(row('plan')).toBe('ask ask ask ask ask ask ask ask ask ask ask');
  expect(row('read_only')).toBe('ask ask ask ask refuse refuse refuse refuse refuse refuse refuse');
  expect(row('accept_edits')).toBe('ask ask ask ask allow ask ask ask ask ask ask');
  expect(row('accept_edits', false)).toBe('ask ask ask ask ask ask ask ask ask ask ask');
  expect(row('bypass')).toBe('allow allow allow allow allow allow allow allow allow allow allow');
});
