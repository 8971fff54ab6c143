import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorld, fakeAgent } from './helpers/world.ts';

const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]);
const image = { type: 'image', mimeType: 'image/png', data: bytes.toString('base64') };
const chunk = (content: unknown) => ({ sessionUpdate: 'agent_message_chunk', content });
const updates = (...list: unknown[]) => `!${JSON.stringify(list)}`;

test('images, files and links are in the transcript by reference, their bytes on the machine', async () => {
  const world = await createWorld({ agents: [fakeAgent('content')] });
  await world.start('s1', 'content');
  const file = { uri: 'file:///x/report.md', mimeType: 'text/markdown', text: '# Hi' };
  const toolImage = { ...image, data: Buffer.from('another').toString('base64') };
  await world.turn(
    's1',
    updates(
      chunk({ type: 'text', text: 'before' }),
      chunk(image),
      chunk(image),
      chunk({ type: 'resource', resource: file }),
      chunk({ type: 'resource_link', uri: 'https://example.com/a', name: 'a', size: 7 }),
      {
        sessionUpdate: 'tool_call',
        toolCallId: 't1',
        title: 'Look',
        kind: 'read',
        content: [{ type: 'content', content: toolImage }],
        rawOutput: { content: [toolImage], note: 'kept' },
      },
      chunk({ type: 'text', text: 'after' }),
    ),
  );
  const events = world.backend.events('s1');
  const attachments = events.filter((event) => event.type === 'agent_attachment');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = join(world.home, 'logs/s1/attachments', `${sha256}.png`);
  const picture = { kind: 'image', mimeType: 'image/png', bytes: bytes.length, sha256, path };
  expect(attachments).toMatchObject([
    picture,
    picture,
    { kind: 'file', name: 'report.md', mimeType: 'text/markdown', bytes: 4, uri: file.uri },
    { kind: 'link', name: 'a', uri: 'https://example.com/a', bytes: 7 },
  ]);
  expect(readFileSync(path)).toEqual(bytes);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(attachments[2]?.path as string, 'utf8')).toBe('# Hi');
  const call = events.find((event) => event.type === 'tool_call');
  expect(call?.content).toMatchObject({
    content: [{ type: 'content', content: { type: 'image', mimeType: 'image/png', bytes: 7 } }],
    rawOutput: { note: 'kept', content: [{ kind: 'image', bytes: 7 }] },
  });
  const said = events.filter((event) => event.type !== 'user_message');
  expect(JSON.stringify(said)).not.toContain(toolImage.data);
});

test('what is too large or too much is not kept, and said', async () => {
  const world = await createWorld({
    agents: [fakeAgent('content')],
    limits: { attachments: { one: 10, session: 20 } },
  });
  await world.start('s1', 'content');
  const of = (length: number, fill: string) =>
    chunk({ ...image, data: Buffer.alloc(length, fill).toString('base64') });
  await world.turn('s1', updates(of(11, 'a'), of(10, 'b'), of(10, 'c'), of(1, 'd'), of(10, 'b')));
  const events = world.backend.events('s1').slice(2, -1);
  expect(events.map(({ type }) => type)).toEqual([
    'notice',
    'agent_attachment',
    'agent_attachment',
    'notice',
    'agent_attachment',
  ]);
  expect(events[0]).toMatchObject({ text: expect.stringContaining('11 bytes, more than 10') });
});

test('usage is told at the end of a turn, as far as the agent says', async () => {
  const world = await createWorld({ agents: [fakeAgent('usage')] });
  await world.start('s1', 'usage');
  await world.turn(
    's1',
    updates(
      { sessionUpdate: 'usage_update', used: 100, size: 1000, cost: { amount: 0.5, currency: 'USD' } },
      { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } },
    ),
  );
  expect((await world.backend.event('s1', 'turn_ended')).usage).toEqual({
    contextUsed: 100,
    contextSize: 1000,
    cost: { amount: 0.5, currency: 'USD' },
    inputTokens: 3,
    outputTokens: 4,
    totalTokens: 7,
  });
});

test('settings of an agent: set while it runs and while it rests, and in force again afterwards', async () => {
  const world = await createWorld({ agents: [fakeAgent('settings'), fakeAgent('plain')] });
  await world.start('s1', 'settings');
  const set = (configId: string, value: string | boolean, sessionId = 's1') =>
    world.backend.request('session.set_config_option', { sessionId, configId, value });
  const started = await world.backend.event('s1', 'session_started');
  expect(started.configOptions?.map(({ configId, value }) => [configId, value])).toEqual([
    ['effort', 'low'],
    ['web', false],
  ]);
  await set('effort', 'high');
  const values = () =>
    world.backend
      .events('s1')
      .flatMap((event) =>
        event.type === 'config_options_changed' ? [event.configOptions.map(({ value }) => value)] : [],
      );
  expect(values()).toEqual([['high', false]]);
  await expect(set('effort', 'huge')).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(set('nothing', 'x')).rejects.toMatchObject({ code: 'invalid_input' });
  await world.backend.request('session.stop', { sessionId: 's1' });
  await expect(set('web', 'yes')).rejects.toMatchObject({ code: 'invalid_input' });
  await set('web', true);
  expect(values().at(-1)).toEqual(['high', true]);
  const { reply } = await world.turn('s1', 'received');
  const calls = JSON.parse(reply.slice(reply.indexOf('['))) as {
    method: string;
    params: { configId: string };
  }[];
  expect(
    calls.filter(({ method }) => method === 'session/set_config_option').map(({ params }) => params.configId),
  ).toEqual(['effort', 'web']);
  await world.start('s2', 'plain');
  await expect(set('effort', 'high', 's2')).rejects.toMatchObject({ code: 'unsupported' });
});

test('a turn of which nothing new comes is stalled since then, until something does; Stop works meanwhile', async () => {
  const world = await createWorld({
    agents: [fakeAgent('repeats'), fakeAgent('pauses'), fakeAgent('permits')],
    limits: { stallMs: 150 },
  });
  await world.start('s1', 'repeats');
  await world.send('s1', 'go');
  const call = await world.backend.event('s1', 'tool_call');
  const stalled = await world.backend.event('s1', 'stalled');
  expect(stalled.since === null ? 0 : Date.parse(stalled.since)).toBeLessThanOrEqual(Date.parse(stalled.at));
  expect(stalled.seq).toBeGreaterThan(call.seq);
  await world.backend.request('session.stop', { sessionId: 's1' });
  expect(world.backend.events('s1').filter(({ type }) => type === 'stalled')).toHaveLength(1);

  await world.start('s2', 'pauses');
  await world.turn('s2', '800');
  const seen = world.backend.events('s2').filter(({ type }) => type === 'stalled');
  expect(seen.map((event) => (event.type === 'stalled' ? event.since === null : undefined))).toEqual([
    false,
    true,
  ]);

  // A person may take as long as it takes.
  await world.start('s3', 'permits');
  const turn = world.turn('s3', 'execute');
  const { request } = await world.backend.event('s3', 'permission_requested');
  await world.turn('s2', '400');
  await world.backend.request('session.answer', {
    sessionId: 's3',
    requestId: request.requestId,
    optionId: 'a1',
    by: 'app',
  });
  await turn;
  expect(world.backend.events('s3').some(({ type }) => type === 'stalled')).toBe(false);
});
