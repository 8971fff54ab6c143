import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KAIWU } from '../helpers/kaiwu.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { type Host, type Message, modernMeta, startHost } from '../surfaces/mcp/helpers/host.ts';
import { type Api, createApi } from './helpers/api.ts';

/** Who calls is captured once a connection, or with each request, and is on everything that comes of a call. */

let world: World;
let api: Api;
const hosts: Host[] = [];

const rules = {
  'memory.forget': { mcp: { approval: true } },
  'session.archive': { mcp: { enabled: false } },
};

beforeAll(async () => {
  world = await startWorld();
  api = createApi(world);
  await api.output('policy.set', { rules });
}, 90_000);
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.kill()));
  await world?.stop();
}, 90_000);

type Call = (name: string, args: object) => Promise<Message>;

function open(): Host {
  const host = startHost([process.execPath, KAIWU, 'mcp', 'serve'], '', world.env);
  hosts.push(host);
  return host;
}

/** A host that says its name once, or not at all. */
async function shakeHands(clientInfo: object): Promise<{ host: Host; call: Call }> {
  const host = open();
  await host.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  host.send({ method: 'notifications/initialized' });
  return { host, call: (name, args) => host.request('tools/call', { name, arguments: args }) };
}

/** One that says it with each request. */
function stateless(host: Host, clientName: string): Call {
  return (name, args) => host.request('tools/call', { name, arguments: args, _meta: modernMeta(clientName) });
}

const newest = async (client: string, filter: object = {}) => {
  const { rows } = await api.output('audit.list', { client, limit: 10, ...filter });
  return (rows as Record<string, unknown>[]).map(({ actionId, client: by, outcome, code }) => ({
    actionId,
    by,
    outcome,
    code,
  }));
};

const NAMES = [
  ['Claude Desktop', 'mcp:claude-desktop'],
  ['  Cursor!!  ', 'mcp:cursor'],
  ['a__b--C 9', 'mcp:a-b-c-9'],
  ['開物', 'mcp'],
  [' -- ', 'mcp'],
  ['', 'mcp'],
] as const;

const GENERATIONS = [
  ['initialize', async (name: string) => (await shakeHands({ name, version: '1' })).call],
  ['each request', async (name: string) => stateless(open(), name)],
] as const;

describe.each(GENERATIONS)('the name from %s', (generation, connect) => {
  test.each(NAMES)('%j is on memory, approvals and the audit', async (name, label) => {
    const call = await connect(name);
    const text = `${generation} of ${JSON.stringify(name)}`;
    const learned = await call('memory_learn', { text });
    const { id, sources } = learned.result.structuredContent.item;
    expect(sources).toEqual([label]);
    const asked = await call('memory.forget', { ids: [id] });
    expect(asked.result.structuredContent).toMatchObject({ kind: 'approval_request_created' });
    const { artifactId } = asked.result.structuredContent;
    const approval = await api.output('approval.request.get', { artifactId });
    expect(approval.requester).toMatchObject({ surface: 'mcp', client: label });
    expect((await newest(label)).slice(0, 2)).toMatchObject([
      { actionId: 'memory.forget', by: label, outcome: 'approval_required' },
      { actionId: 'memory.learn', by: label, outcome: 'ok' },
    ]);
    const found = await call('memory_list', { filter: { sources: [label] } });
    expect(JSON.stringify(found.result.structuredContent)).toContain(id);
  });
});

test('two names on one connection stay two', async () => {
  const host = open();
  const [one, two] = [stateless(host, 'One'), stateless(host, 'Two')];
  await Promise.all(
    [1, 2, 3].flatMap((n) => [one, two].map((call) => call('memory_learn', { text: `${n}` }))),
  );
  for (const label of ['mcp:one', 'mcp:two']) {
    expect((await newest(label)).map(({ actionId }) => actionId)).toEqual(Array(3).fill('memory.learn'));
  }
});

test('a label is no authority: who calls itself by another surface or client gets nothing by it', async () => {
  const { call } = await shakeHands({ name: 'cli', version: '1' });
  const refused = await call('session_archive', { sessionId: 'sess_x' });
  expect(refused.result.structuredContent.error).toMatchObject({ code: 'action_disabled' });
  expect(await newest('mcp:cli')).toMatchObject([{ actionId: 'session.archive', code: 'action_disabled' }]);
});

test('what is rejected is audited under the label too', async () => {
  const { host, call } = await shakeHands({ name: 'Rejected', version: '1' });
  const answers = [
    await call('memory_learn', { text: '' }),
    await call('memory_lern', { text: 'x' }),
    await call('session_archive', { sessionId: 'sess_x' }),
    await call('memory.fetch', { query: 'x', limit: 101 }),
  ];
  expect(answers.map(({ result }) => result.structuredContent.error.code)).toEqual([
    'invalid_input',
    'unknown_action',
    'action_disabled',
    'invalid_input',
  ]);
  expect((await host.request('resources/read', { uri: 'kaiwu://nowhere' })).error?.code).toBe(-32002);
  expect((await newest('mcp:rejected')).toReversed()).toMatchObject([
    { actionId: 'memory.learn', outcome: 'error', code: 'invalid_input' },
    { actionId: 'memory_lern', outcome: 'error', code: 'unknown_action' },
    { actionId: 'session.archive', outcome: 'error', code: 'action_disabled' },
    { actionId: 'memory.fetch', outcome: 'error', code: 'invalid_input' },
    { actionId: 'resource.read', outcome: 'error', code: 'not_found' },
  ]);
});
