import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import { answerHost, refuse, SECRET, SESSION, TRANSCRIPT } from './helpers/host-answers.ts';
import { startHttpWorld } from './helpers/http-world.ts';
import { modernMeta, until } from './helpers/host.ts';
import { useSetup } from './helpers/setup.ts';

const setup = useSetup();
const timing = { updateMs: 20 };
const UPDATED = 'notifications/resources/updated';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

const changed = (sessionId = 'sess_1') => ({ type: 'session.changed' as const, sessionId });
const appended = (sessionId = 'sess_1') => ({
  type: 'transcript.appended' as const,
  sessionId,
  fromSeq: 1,
  toSeq: 2,
});

async function open(options = {}) {
  const backend = await setup.backend();
  backend.answer = answerHost;
  const host = await setup.host({ timing, ...options });
  const updates = () => host.messages().filter(({ method }) => method === UPDATED);
  const uris = () => updates().map(({ params }) => params?.['uri']);
  return { backend, host, updates, uris };
}

describe('with a handshake', () => {
  test('a subscriber hears of its own resources alone, until it no longer subscribes', async () => {
    const { backend, host, uris } = await open();
    await host.initialize();
    expect((await host.request('resources/subscribe', { uri: SESSION })).result).toEqual({});
    backend.emit(appended());
    backend.emit(changed('sess_2'));
    backend.emit(changed());
    await until('an update', () => uris().length > 0);
    expect((await host.request('resources/subscribe', { uri: TRANSCRIPT })).result).toEqual({});
    expect((await host.request('resources/unsubscribe', { uri: SESSION })).result).toEqual({});
    backend.emit(changed());
    backend.emit(appended());
    await until('another', () => uris().length > 1);
    expect(uris()).toEqual([SESSION, TRANSCRIPT]);
    expect((await host.request('resources/unsubscribe', { uri: TRANSCRIPT })).result).toEqual({});
    await until('nobody follows sessions', () => backend.streams.size === 0);
    expect(host.noise()).toEqual([]);
  });

  test('many changes at once are told once', async () => {
    const { backend, host, uris } = await open({ timing: { updateMs: 300 } });
    await host.initialize();
    await host.request('resources/subscribe', { uri: TRANSCRIPT });
    await host.request('resources/subscribe', { uri: SESSION });
    for (let i = 0; i < 200; i += 1) backend.emit(appended());
    backend.emit(changed());
    await until('both', () => uris().length === 2);
    expect(uris()).toEqual([TRANSCRIPT, SESSION]);
  });

  test('is for what may be read and changes, up to a number', async () => {
    const { host } = await open();
    await host.initialize();
    const refused = async (uri?: string) =>
      (await host.request('resources/subscribe', uri === undefined ? {} : { uri })).error;
    expect(await refused(SECRET)).toMatchObject({ code: -32000, data: { code: 'action_disabled' } });
    expect(await refused('kaiwu://sessions/sess_none')).toMatchObject({ code: -32002 });
    expect(await refused('kaiwu://prompts/identity')).toMatchObject({ code: -32602 });
    expect(await refused()).toMatchObject({ code: -32602 });
    for (let i = 0; i < 100; i += 1) expect(await refused(`kaiwu://sessions/s${i}`)).toBeUndefined();
    expect(await refused('kaiwu://sessions/s100')).toMatchObject({ code: -32000 });
    expect(await refused('kaiwu://sessions/s7')).toBeUndefined();
    await host.request('resources/unsubscribe', { uri: 'kaiwu://sessions/s7' });
    expect(await refused('kaiwu://sessions/s100')).toBeUndefined();
  });

  test('what may no longer be read is no longer told of', async () => {
    const { backend, host, uris } = await open();
    await host.initialize();
    await host.request('resources/subscribe', { uri: SESSION });
    await host.request('resources/subscribe', { uri: TRANSCRIPT });
    backend.answer = (call) =>
      JSON.stringify(call.input).includes('transcript') ? refuse('action_disabled') : answerHost(call);
    const before = backend.calls.length;
    backend.setPolicy({});
    await until('both were looked at', () => backend.calls.length === before + 2);
    // Answers come in order, so the refusal has arrived as well.
    await host.request('resources/read', { uri: SESSION });
    backend.emit(appended());
    backend.emit(changed());
    await until('an update', () => uris().length > 0);
    expect(uris()).toEqual([SESSION]);
  });

  test('a backend that comes back is a change of everything', async () => {
    const { backend, host, uris } = await open();
    await host.initialize();
    await host.request('resources/subscribe', { uri: SESSION });
    const { port } = backend;
    await backend.stop();
    await backend.start(port);
    await until('an update', () => uris().length > 0);
    expect(uris()[0]).toBe(SESSION);
  });
});

describe('stateless', () => {
  test('each stream names its request, and acknowledges what it will tell', async () => {
    const { backend, host, updates } = await open();
    const listen = (id: string, resourceSubscriptions: string[]) =>
      host.send({
        id,
        method: 'subscriptions/listen',
        params: { notifications: { resourceSubscriptions }, _meta: modernMeta() },
      });
    const acknowledged = async (id: string) => {
      const of = (message: { method?: string; params?: Record<string, unknown> }) =>
        message.method === ACKNOWLEDGED && JSON.stringify(message.params?.['_meta']).includes(`"${id}"`);
      return (await host.message(of)).params?.['notifications'];
    };
    await host.request('server/discover', { _meta: modernMeta() });
    listen('a', [SESSION, SECRET, 'kaiwu://nowhere', 'kaiwu://prompts/identity']);
    expect(await acknowledged('a')).toEqual({ resourceSubscriptions: [SESSION] });
    listen('b', [TRANSCRIPT, SESSION]);
    expect(await acknowledged('b')).toEqual({ resourceSubscriptions: [TRANSCRIPT, SESSION] });
    backend.emit(changed());
    await until('both hear', () => updates().length === 2);
    host.send({ method: 'notifications/cancelled', params: { requestId: 'b', _meta: modernMeta() } });
    await host.request('tools/list', { _meta: modernMeta() });
    backend.emit(appended());
    backend.emit(changed());
    await until('one hears', () => updates().length === 3);
    expect(updates().map(({ params }) => Object.values(params?.['_meta'] ?? {})[0])).toEqual(['a', 'b', 'a']);
    expect(updates().map(({ params }) => params?.['uri'])).toEqual([SESSION, SESSION, SESSION]);
    host.child.stdin?.end();
    expect((await host.exit()).code).toBe(0);
    expect(host.noise()).toEqual([]);
  });
});

describe('official clients', () => {
  const modes = [
    ['handshake', 'legacy' as const],
    ['stateless', { pin: '2026-07-28' }],
  ] as const;

  async function hear(client: Client2): Promise<string[]> {
    const heard: string[] = [];
    client.setNotificationHandler(UPDATED, ({ params }) => void heard.push(params.uri));
    if (client.getNegotiatedProtocolVersion() === '2026-07-28') {
      await client.listen({ resourceSubscriptions: [SESSION, TRANSCRIPT] });
    } else {
      await client.subscribeResource({ uri: SESSION });
      await client.subscribeResource({ uri: TRANSCRIPT });
    }
    return heard;
  }

  test.each(modes)('over HTTP, %s', async (_, mode) => {
    const world = await startHttpWorld({ timing });
    world.backend.answer = answerHost;
    const client = new Client2({ name: 'Some Host', version: '3' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { Authorization: `Bearer ${world.bearer}` } };
    await client.connect(new Http2(new URL(world.http.url), { requestInit }));
    expect((await client.listResources()).resources).toHaveLength(1);
    expect((await client.listPrompts()).prompts).toHaveLength(1);
    expect((await client.readResource({ uri: SESSION })).contents).toHaveLength(1);
    const heard = await hear(client);
    await until('the update', () => {
      if (heard.length === 0) world.backend.emit(appended());
      return heard.length > 0;
    });
    expect(new Set(heard)).toEqual(new Set([TRANSCRIPT]));
    await client.close();
    expect(world.errors).toEqual([]);
  });

  test.each(modes)('over stdio, %s', async (_, mode) => {
    const backend = await setup.backend();
    backend.answer = answerHost;
    const { command, args } = await setup.command({ timing });
    const client = new Client2({ name: 'Some Host', version: '3' }, { versionNegotiation: { mode } });
    setup.onEnd(() => client.close());
    await client.connect(new Stdio2({ command, args, stderr: 'ignore' }));
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    const heard = await hear(client);
    backend.emit(appended());
    await until('the update', () => heard.length > 0);
    expect(heard).toEqual([TRANSCRIPT]);
  });
});
