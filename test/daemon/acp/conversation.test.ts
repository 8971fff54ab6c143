import { expect, test } from 'vitest';
import { fakeAgent } from '../helpers/world.ts';
import { openSession } from './session.ts';

const updates = (...list: object[]) => `!${JSON.stringify(list)}`;

test('settings are those that can be shown; they change live, and only to what is offered', async () => {
  const { session, heard } = await openSession(fakeAgent('settings'));
  expect(session.configOptions()).toEqual([
    {
      configId: 'effort',
      name: 'Effort',
      description: 'How long it thinks',
      kind: 'select',
      value: 'low',
      options: [
        { id: 'low', name: 'low' },
        { id: 'high', name: 'high' },
      ],
    },
    { configId: 'web', name: 'Search the web', kind: 'boolean', value: false, options: [] },
  ]);
  await session.setConfigOption('web', true);
  await session.setConfigOption('effort', 'high');
  expect(heard.settings.at(-1)).toMatchObject([{ value: 'high' }, { value: true }]);
  await session.prompt('received');
  const set = JSON.parse(heard.reply()).filter(
    ({ method }: { method: string }) => method === 'session/set_config_option',
  );
  expect(set.map(({ params }: { params: object }) => params)).toEqual([
    { sessionId: 'fake', configId: 'web', value: true, type: 'boolean' },
    { sessionId: 'fake', configId: 'effort', value: 'high' },
  ]);

  await expect(session.setConfigOption('effort', 'extreme')).rejects.toMatchObject({
    code: 'invalid_input',
    message: 'Effort cannot be "extreme"',
    hint: 'Use one of low, high.',
    details: { issues: [{ path: 'value', received: 'extreme' }], offered: ['low', 'high'] },
  });
  await expect(session.setConfigOption('web', 'true')).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(session.setConfigOption('heat', '3')).rejects.toMatchObject({
    code: 'invalid_input',
    hint: 'Use one of effort, web.',
  });

  const option = { type: 'boolean', id: 'web', name: 'Search the web', currentValue: false };
  await session.prompt(updates({ sessionUpdate: 'config_option_update', configOptions: [option] }));
  expect(heard.settings.at(-1)).toMatchObject([{ configId: 'web', value: false }]);
  expect(session.configOptions()).toHaveLength(1);
  const before = heard.settings.length;
  await session.prompt(updates({ sessionUpdate: 'config_option_update', configOptions: [option] }));
  expect(heard.settings).toHaveLength(before);
});

test('the mode cannot be set past its own way, and an agent without settings says so', async () => {
  const { session } = await openSession(fakeAgent('config'));
  expect(session.configOptions()).toEqual([]);
  await expect(session.setConfigOption('m', 'two')).rejects.toMatchObject({ code: 'unsupported' });
});

test('what it used is put together from all that it says, without what cannot be true', async () => {
  const { session, heard } = await openSession(fakeAgent('noisy'));
  expect(await session.prompt('hi')).toEqual({ stopReason: 'end_turn' });
  const first = await session.prompt(
    updates(
      { sessionUpdate: 'usage_update', used: 100, size: 1000, cost: { amount: 0.25, currency: 'USD' } },
      { sessionUpdate: 'usage_update', used: -1, size: 1e300, cost: { amount: '1', currency: 'USD' } },
      { sessionUpdate: 'usage_update', used: null, cost: { amount: 1, currency: 'U'.repeat(1000) } },
      { usage: { inputTokens: 5, outputTokens: Number.MAX_SAFE_INTEGER, totalTokens: 'many' } },
    ),
  );
  const known = { contextUsed: 100, contextSize: 1000, cost: { amount: 0.25, currency: 'USD' } };
  const usage = { ...known, inputTokens: 5, outputTokens: Number.MAX_SAFE_INTEGER };
  expect(first).toEqual({ stopReason: 'end_turn', usage });
  expect(heard.usages[0]).toEqual(known);
  expect(heard.usages.at(-1)).toEqual(usage);
});

test('questions reach people as forms, and their answers reach the agent in the protocol’s shape', async () => {
  const form = { mode: 'form', message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
  const answers = [
    {
      action: 'accept' as const,
      content: { a: 'x', b: 1, c: true, d: ['y'], e: { deep: 1 }, f: [1], g: null },
    },
    { action: 'accept' as const },
    { action: 'decline' as const, content: { a: 'x' } },
  ];
  const { session, heard } = await openSession(fakeAgent('noisy'), {
    answer: () => answers.shift() ?? { action: 'cancel' },
  });
  const ask = async (params: object) => {
    await session.prompt(`?${JSON.stringify(params)}`);
    return JSON.parse(heard.reply());
  };
  expect(await ask(form)).toEqual({ action: 'accept', content: { a: 'x', b: 1, c: true, d: ['y'] } });
  expect(await ask(form)).toEqual({ action: 'accept', content: {} });
  expect(await ask(form)).toEqual({ action: 'decline' });
  expect(await ask(form)).toEqual({ action: 'cancel' });
  expect(heard.questions).toHaveLength(4);
  expect(heard.questions[0]).toMatchObject({ message: 'Which?', sessionId: 'fake' });
  const address = { mode: 'url', message: 'Go there', url: 'https://example.com', elicitationId: 'e1' };
  expect(await ask(address)).toEqual({ action: 'decline' });
  expect(await ask({ mode: 'hologram', message: 'Look' })).toEqual({ action: 'decline' });
  expect(heard.questions).toHaveLength(4);
});

test('content of every kind arrives as the agent sent it', async () => {
  const { session, heard } = await openSession(fakeAgent('noisy'));
  const chunks = [
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'file:///a', name: 'a' },
    { type: 'resource', resource: { uri: 'file:///b', text: 'b' } },
    { type: 'of a kind to come', odd: [1] },
  ].map((content) => ({ sessionUpdate: 'agent_message_chunk', content }));
  await session.prompt(updates(...chunks));
  expect(heard.updates).toEqual(chunks);
});

test.each([['promptRequired'], ['failed'], [undefined]])(
  'a message that did not reach the turn (%s) is given back',
  async (outcome) => {
    const env = { FAKE_STEERING: outcome ?? '' };
    const { session } = await openSession(fakeAgent('deaf-to-cancel', { env }));
    expect(session.features).toContain('steer');
    const turn = session.prompt('go').catch(() => {});
    await expect(session.steer('now')).rejects.toMatchObject({ code: 'conflict' });
    await session.end();
    await turn;
  },
);
