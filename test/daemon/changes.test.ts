import { expect, test } from 'vitest';
import { createWorld, fakeAgent, type World } from './helpers/world.ts';

/** What the agent was asked for, in its own words, since it started. */
async function asked(world: World, sessionId = 's1'): Promise<string[]> {
  const { reply } = await world.turn(sessionId, 'received');
  const calls = JSON.parse(reply) as { method?: string; params: Record<string, string> }[];
  return calls.flatMap(({ method, params }) =>
    method?.startsWith('session/set') === true ? [params.modeId ?? `${params.configId}=${params.value}`] : [],
  );
}

const change = (world: World) => ({
  mode: (permissionMode: 'accept_edits' | 'bypass' | 'plan') =>
    world.backend.request('session.set_mode', { sessionId: 's1', permissionMode }),
  model: (modelId: string) => world.backend.request('session.set_model', { sessionId: 's1', modelId }),
});

test('what is chosen while the agent starts is in force once it has started', async () => {
  const world = await createWorld({
    agents: [fakeAgent('modes', { env: { FAKE_START_MS: '700' } })],
  });
  await world.start('s1', 'modes');
  await world.backend.request('session.stop', { sessionId: 's1' });
  const messageId = await world.send('s1', 'hello');
  await Promise.all([
    change(world).mode('bypass'),
    expect(change(world).mode('plan')).rejects.toMatchObject({ code: 'unsupported' }),
  ]);
  await world.backend.event('s1', 'turn_ended', (event) => event.messageId === messageId);
  expect(await asked(world)).toEqual(['three']);
  expect(
    world.backend
      .events('s1')
      .flatMap((event) => ('permissionMode' in event ? [`${event.type} ${event.permissionMode}`] : [])),
  ).toEqual(['session_started default', 'session_started default', 'mode_changed bypass']);
});

test('a model that is chosen during a turn with one of its own is in force after it', async () => {
  const world = await createWorld({ agents: [fakeAgent('config')] });
  await world.start('s1', 'config', { modelId: 'large' });
  await world.send('s1', `?${JSON.stringify({ mode: 'form', message: 'Wait?' })}`, {
    modelOverride: 'large',
  });
  const { request } = await world.backend.event('s1', 'question_asked');
  await change(world).model('small');
  await world.backend.request('session.answer_question', {
    sessionId: 's1',
    requestId: request.requestId,
    answer: 'accept',
    by: 'app',
  });
  await world.backend.event('s1', 'turn_ended');
  expect((await asked(world)).at(-1)).toBe('x=small');
  expect(world.backend.events('s1').filter(({ type }) => type === 'model_changed')).toMatchObject([
    { modelId: 'small' },
  ]);
});

test('an agent that does not answer a change is ended, and the next message has another', async () => {
  const world = await createWorld({
    agents: [fakeAgent('never-goes-back')],
    limits: { controlMs: 500 },
  });
  await world.start('s1', 'never-goes-back');
  await world.turn('s1', 'hi', { permissionModeOverride: 'accept_edits' });
  expect(await world.turn('s1', 'hi')).toMatchObject({ outcome: 'completed' });
  expect((await world.backend.event('s1', 'session_failed')).reason.message).toContain(
    'did not answer a change of its settings within 0.5 s',
  );
});
