import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demoAgent, openSession } from './acp/session.ts';
import { createHttpMcp } from './fakes/http-mcp.ts';
import { makeHome } from './helpers/world.ts';

const plansOf = (updates: Record<string, unknown>[]) =>
  updates.filter((update) => update.sessionUpdate === 'plan').map((update) => update.entries);

test('it thinks, plans and shows a picture', async () => {
  const { session, heard } = await openSession(await demoAgent(makeHome()));
  await session.prompt('think about a rather long thought');
  const thoughts = heard.updates.filter((update) => update.sessionUpdate === 'agent_thought_chunk');
  expect(thoughts.map(({ content }) => (content as { text: string }).text).join('')).toBe(
    'about a rather long thought',
  );
  expect(heard.reply()).toBe('thought');

  await session.prompt('plan look; change ; look again');
  expect(plansOf(heard.updates).at(0)).toMatchObject([
    { content: 'look', status: 'in_progress' },
    { content: 'change', status: 'pending' },
    { content: 'look again', status: 'pending' },
  ]);
  expect(plansOf(heard.updates).at(-1)).toMatchObject([1, 2, 3].map(() => ({ status: 'completed' })));
  expect(heard.reply()).toBe('did 3 steps');

  await session.prompt('image');
  const picture = heard.updates.find(({ content }) => (content as { type?: string })?.type === 'image');
  expect(picture).toMatchObject({ content: { mimeType: 'image/png' } });
  const { data } = (picture as { content: { data: string } }).content;
  expect(Buffer.from(data, 'base64').subarray(1, 4).toString()).toBe('PNG');
});

test('it asks a question and replies what was answered', async () => {
  const answers = [
    { action: 'accept' as const, content: { answer: 'blue', odd: { deep: true } } },
    { action: 'decline' as const, content: { answer: 'not sent' } },
    { action: 'cancel' as const },
  ];
  const { session, heard } = await openSession(await demoAgent(makeHome()), {
    answer: () => answers.shift() ?? { action: 'cancel' },
  });
  await session.prompt('question Which colour?');
  expect(heard.questions).toMatchObject([
    {
      mode: 'form',
      message: 'Which colour?',
      requestedSchema: { properties: { answer: { type: 'string' } }, required: ['answer'] },
    },
  ]);
  expect(heard.reply()).toBe('blue');
  await session.prompt('question Sure?');
  expect(heard.reply()).toBe('declined');
  await session.prompt('question Really?');
  expect(heard.reply()).toBe('canceled');
});

test('it edits a file once it may, and shows the difference first', async () => {
  const home = makeHome();
  const demo = await demoAgent(home);
  const allowed = await openSession(demo, { home });
  writeFileSync(join(allowed.directory, 'a.txt'), 'old');
  await allowed.session.prompt('edit a.txt new text');
  expect(allowed.heard.reply()).toBe('edited');
  expect(readFileSync(join(allowed.directory, 'a.txt'), 'utf8')).toBe('new text');
  const path = join(allowed.directory, 'a.txt');
  expect(allowed.heard.permissions).toMatchObject([
    {
      toolCall: {
        kind: 'edit',
        content: [{ type: 'diff', path, oldText: 'old', newText: 'new text' }],
        locations: [{ path }],
      },
    },
  ]);
  const refused = await openSession(demo, { home, permit: 'reject_once' });
  await refused.session.prompt('edit a.txt other text');
  expect(refused.heard.reply()).toBe('refused');
  expect(readFileSync(path, 'utf8')).toBe('new text');
});

test('it counts what it used, and has a setting of its own', async () => {
  const { session, heard } = await openSession(await demoAgent(makeHome()));
  const first = await session.prompt('say twelve chars');
  expect(first).toMatchObject({ stopReason: 'end_turn', usage: { inputTokens: 4, outputTokens: 3 } });
  const second = await session.prompt('say twelve chars');
  expect(second.usage).toEqual({
    inputTokens: 8,
    outputTokens: 6,
    totalTokens: 14,
    contextUsed: 14,
    contextSize: 100_000,
  });
  expect(heard.usages.at(-1)).toEqual(second.usage);

  expect(session.configOptions()).toMatchObject([
    { configId: 'effort', kind: 'select', value: 'low', options: [{ id: 'low' }, { id: 'high' }] },
  ]);
  await session.setConfigOption('effort', 'high');
  expect(session.configOptions()).toMatchObject([{ configId: 'effort', value: 'high' }]);
  expect(heard.settings.at(-1)).toEqual(session.configOptions());
});

test('a message that steers is read into the turn that runs', async () => {
  const { session, heard } = await openSession(await demoAgent(makeHome()));
  expect(session.features).toContain('steer');
  await expect(session.steer('too early')).rejects.toMatchObject({ code: 'conflict' });
  const turn = session.prompt('sleep 1');
  await session.steer('hurry up');
  expect(await turn).toMatchObject({ stopReason: 'end_turn' });
  expect(heard.reply()).toMatch(/awake, and heard hurry up$/);
});

test('a conversation is loaded by the next process, and a copy of it goes its own way', async () => {
  const home = makeHome();
  const demo = await demoAgent(home);
  const first = await openSession(demo, { home });
  const { acpSessionId } = first.session;
  await first.session.prompt('say one');
  await first.session.prompt('recall');
  expect(first.heard.reply()).toBe('onesay one');
  await first.session.end();

  const loaded = await openSession(demo, { home, acpSessionId });
  expect(loaded.session).toMatchObject({ resumed: 'loaded', acpSessionId });
  // What the agent replays is known already.
  expect(loaded.heard.updates).toEqual([]);
  const forked = await openSession(demo, { home, forkOf: acpSessionId });
  expect(forked.session.resumed).toBe('forked');
  expect(forked.session.acpSessionId).not.toBe(acpSessionId);
  await loaded.session.prompt('say two');
  await forked.session.prompt('say three');
  await loaded.session.prompt('recall');
  await forked.session.prompt('recall');
  expect(loaded.heard.reply()).toBe('twosay one\nrecall\nsay two');
  expect(forked.heard.reply()).toBe('threesay one\nrecall\nsay three');

  const gone = await openSession(demo, { home, acpSessionId: '../../etc/passwd' });
  expect(gone.session.resumed).toBe('without_history');
});

test('it works in additional directories', async () => {
  const home = makeHome();
  const more = join(home, 'more');
  mkdirSync(more);
  writeFileSync(join(more, 'b.txt'), '');
  const { session, heard, directory } = await openSession(await demoAgent(home), {
    home,
    additionalDirectories: [more],
  });
  writeFileSync(join(directory, 'a.txt'), '');
  await session.prompt('ls');
  expect(heard.reply()).toBe(`a.txt\n${more}:\nb.txt`);
});

test('it calls tools of MCP servers over HTTP', async () => {
  const { url, refused } = await createHttpMcp('right');
  const at = (name: string, token: string) => ({
    type: 'http' as const,
    name,
    url,
    headers: [{ name: 'Authorization', value: `Bearer ${token}` }],
  });
  const { session, heard } = await openSession(await demoAgent(makeHome()), {
    mcpServers: [at('locked', 'wrong'), at('open', 'right')],
  });
  await session.prompt('tool add {"a": 2, "b": 3}');
  expect(JSON.parse(heard.reply())).toEqual({ sum: 5 });
  expect(refused()).toBeGreaterThan(0);
  await session.prompt('tool subtract {}');
  expect(JSON.parse(heard.reply())).toMatchObject({ problems: [expect.stringMatching(/^locked: /)] });
});
