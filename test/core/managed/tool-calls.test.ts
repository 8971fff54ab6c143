import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/core/call.ts';
import { toPin } from '../../../src/core/managed/pins.ts';
import { call, codeOf, setRules, setServer, tool, useManaged, w } from './managed-world.ts';

useManaged();

const person: Caller = { surface: 'cli', client: 'cli', tokenId: 'tok_2', tokenKind: 'device', scope: {} };

const schema = {
  type: 'object',
  properties: {
    count: { type: 'integer' },
    name: { type: 'string' },
    note: { type: ['string', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    dry_run: { type: 'boolean' },
    deep: { type: 'object', properties: { left: { type: ['string', 'null'] }, right: { type: 'string' } } },
  },
  required: ['name'],
};

/** What the server hears of arguments, at each door alike; or the issues that the caller is told. */
async function send(args: unknown, inputSchema: Record<string, unknown> = schema) {
  const { calls } = setServer('home', { tools: [tool('x', { inputSchema })], pins: new Map(), calls: [] });
  setServer('home', { pins: new Map([['x', toPin(tool('x', { inputSchema }), w.runtime.sha256)]]) });
  const all = [
    await call('home__x', args),
    await call('note.any', { actionId: 'managed.home.x', input: args ?? undefined }),
    await call('tool.call', { server: 'home', tool: 'x', arguments: args ?? undefined }),
  ];
  const told = all.map((envelope) =>
    envelope.status === 'error' ? (envelope.error.details?.['issues'] ?? envelope.error.code) : undefined,
  );
  expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(new Set(calls.map((each) => JSON.stringify(each.args))).size).toBeLessThan(2);
  return told[0] ?? calls[0]?.args;
}

describe('arguments of a managed tool', () => {
  it.each<[unknown, unknown]>([
    [
      { name: 'n', count: '5' },
      { name: 'n', count: 5 },
    ],
    [{ name: '123' }, { name: '123' }],
    [
      { name: 'n', tags: '["a"]' },
      { name: 'n', tags: ['a'] },
    ],
    [{ name: 'n', count: null, tags: null }, { name: 'n' }],
    [
      { name: 'n', note: null },
      { name: 'n', note: null },
    ],
    [
      { name: 'n', deep: { left: null } },
      { name: 'n', deep: { left: null } },
    ],
    [{ name: 'n', task_progress: '- [x]', wait_for_previous: true }, { name: 'n' }],
    [
      { name: 'n', further_on: 1 },
      { name: 'n', further_on: 1 },
    ],
    [{ name: '— 漢 🧑‍🚀 e\u0301' }, { name: '— 漢 🧑‍🚀 e\u0301' }],
  ])('%j reach the server as %j', async (args, heard) => {
    expect(await send(args)).toEqual(heard);
  });

  it.each<[unknown, object[]]>([
    [{ name: 'n', count: '5.5' }, [{ path: 'count', message: 'must be a whole number', received: '"5.5"' }]],
    [
      { name: 'n', count: '0x10' },
      [{ path: 'count', message: 'must be a whole number', received: '"0x10"' }],
    ],
    [{ name: 'n', count: '' }, [{ path: 'count', message: 'must be a whole number', received: '""' }]],
    [{ name: 5 }, [{ path: 'name', message: 'must be a text', received: '5' }]],
    [{ name: null }, [{ path: 'name', message: 'must be a text', received: 'null' }]],
    [{}, [{ path: 'name', message: 'is required' }]],
    [undefined, [{ path: 'name', message: 'is required' }]],
    [{ name: 'n', dryrun: true }, [{ path: 'dryrun', message: 'is not a field; did you mean dry_run?' }]],
    [{ name: 'n', tags: ['a', 5] }, [{ path: 'tags.1', message: 'must be a text', received: '5' }]],
    [
      { name: 'n', deep: { right: null } },
      [{ path: 'deep.right', message: 'must be a text', received: 'null' }],
    ],
  ])('%j do not reach it', async (args, issues) => {
    expect(await send(args)).toEqual(issues);
  });

  it('are absent, null and {} alike where nothing is required', async () => {
    const open = { type: 'object', properties: { a: { type: 'string' } } };
    for (const args of [undefined, null, {}]) expect(await send(args, open)).toEqual({});
  });

  it('go by a closed schema, and by one that takes any name', async () => {
    const properties = { task_progress: { type: 'string' }, alpha: { type: 'string' } };
    const closed = { type: 'object', properties, additionalProperties: false };
    expect(await send({ task_progress: 'x' }, closed)).toEqual({ task_progress: 'x' });
    expect(await send({ other: 'x' }, closed)).toEqual([
      { path: 'other', message: 'is not a field', received: '"x"' },
    ]);
    const map = { type: 'object', properties: { alpha: {} }, additionalProperties: { type: 'integer' } };
    expect(await send({ alpha2: 1, alphas: 2 }, map)).toEqual({ alpha2: 1, alphas: 2 });
    expect(await send({ task_progress: 'x', alpha: 1 }, map)).toEqual({ alpha: 1 });
  });

  it('go by the original where hosts are told less', async () => {
    const either = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    };
    expect(await send({ a: 'x' }, either)).toEqual({ a: 'x' });
    expect(await send({}, either)).toMatchObject([
      { path: '', message: expect.stringMatching(/^has none/) as string },
    ]);
    expect(await send({ a: 'x', b: 'y' }, either)).toMatchObject([{ path: '' }]);
  });
});

describe('what the server answers', () => {
  it('is passed on whole', async () => {
    const answer = {
      content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
      structuredContent: { n: 1 },
    };
    setServer('home', { tools: [tool('x')], answer });
    expect(await call('home__x')).toEqual({ status: 'ok', output: answer });
  });

  it('is an error where it says so, and no success', async () => {
    const content = [{ type: 'text', text: `no\u202E lamp ${'x'.repeat(5000)}` }];
    setServer('home', { tools: [tool('x')], answer: { content, isError: true } });
    const envelope = await call('home__x');
    expect(envelope).toMatchObject({
      error: { code: 'tool_failed', details: { server: 'home', result: { isError: true } } },
    });
    const { message } = (envelope as { error: { message: string } }).error;
    expect(message).toMatch(/^no\\u202e lamp/);
    expect(message.length).toBeLessThan(2100);
  });
});

describe('approvals and grants of a managed tool', () => {
  const ask = async (input: object) => {
    const envelope = await call('home__x', input, { surface: 'mcp' });
    if (envelope.status !== 'approval_required') throw new Error(JSON.stringify(envelope));
    return envelope.approval.artifactId;
  };
  const approve = (artifactId: string) => w.approvals.decide(artifactId, 'approve', undefined, person);
  const statusOf = async (input: object) => codeOf(await call('home__x', input, { surface: 'mcp' }));

  it('what was approved runs once', async () => {
    const { calls } = setServer('home', { tools: [tool('x', { annotations: { destructiveHint: true } })] });
    const decided = await approve(await ask({ place: 'a' }));
    expect(decided).toMatchObject({ approval: { status: 'succeeded' }, result: { status: 'ok' } });
    expect(calls).toEqual([{ tool: 'x', args: { place: 'a' } }]);
  });

  it('what was approved is stale once the definition has changed, held back or accepted', async () => {
    await setRules({ 'managed.home.*': { mcp: { approval: true } } });
    const { calls } = setServer('home', { tools: [tool('x')] });
    const [first, second] = [await ask({ place: 'a' }), await ask({ place: 'b' })];
    const changed = tool('x', { description: 'Now it also sends it away.' });
    setServer('home', { tools: [changed] });
    await expect(approve(first)).rejects.toMatchObject({ code: 'approval_stale' });
    setServer('home', { pins: new Map([['x', toPin(changed, w.runtime.sha256)]]) });
    await expect(approve(second)).rejects.toMatchObject({ code: 'approval_stale' });
    expect(calls).toEqual([]);
  });

  it('what was approved is refused once the tool is excluded', async () => {
    await setRules({ 'managed.home.*': { mcp: { approval: true } } });
    const { calls } = setServer('home', { tools: [tool('x')] });
    const artifactId = await ask({});
    setServer('home', { config: { url: 'http://127.0.0.1:9', exclude_tools: ['x'] } });
    await expect(approve(artifactId)).rejects.toMatchObject({ code: 'approval_stale' });
    expect(calls).toEqual([]);
  });

  it('a grant covers the like, and no field that the person did not see', async () => {
    await setRules({ 'managed.home.*': { mcp: { approval: true } } });
    setServer('home', { tools: [tool('x')] });
    const artifactId = await ask({ place: 'a' });
    await approve(artifactId);
    await w.grants.create({ artifactId, onThisMachineOnly: false, hours: 1, uses: 50 }, person);
    expect(await statusOf({ place: 'a' })).toBe('ok');
    expect(await statusOf({ place: 'b' })).toBe('approval_required');
    expect(await statusOf({ place: 'a', recipients: ['x'] })).toBe('approval_required');

    const further = await ask({ place: 'c', recipients: ['x'] });
    await approve(further);
    await w.grants.create({ artifactId: further, onThisMachineOnly: false, hours: 1, uses: 50 }, person);
    expect(await statusOf({ place: 'c', recipients: ['x'] })).toBe('ok');
    expect(await statusOf({ place: 'c', recipients: ['y'] })).toBe('approval_required');
    expect(await statusOf({ place: 'c' })).toBe('approval_required');
  });
});
