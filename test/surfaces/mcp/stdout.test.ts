import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { until } from './helpers/host.ts';
import { useSetup } from './helpers/setup.ts';

const setup = useSetup();
const call = { name: 'session_list', arguments: {} };

test('what dependencies print goes to stderr', async () => {
  await setup.backend();
  const host = await setup.host({ misbehave: ['console', 'stdout', 'rejection'] });
  await host.initialize();
  host.child.kill('SIGUSR2');
  await until('all noise', () =>
    ['noise of a dependency', 'more noise'].every((text) => host.stderr().includes(text)),
  );
  await until('the rejection', () => host.stderr().includes('nobody waits for this'));
  expect((await host.request('tools/call', call)).result.isError).toBeUndefined();
  expect(host.noise()).toEqual([]);
});

test('an uncaught exception ends the process with a code, after what is open was answered', async () => {
  const backend = await setup.backend();
  backend.answer = async () => {
    host.child.kill('SIGUSR2');
    await until('the exception', () => host.stderr().includes('out of nowhere'));
    return { status: 'ok', output: { late: true } };
  };
  const host = await setup.host({ misbehave: ['exception'] });
  await host.initialize();
  expect((await host.request('tools/call', call)).result.structuredContent).toEqual({ late: true });
  expect((await host.exit()).code).toBe(1);
  expect(host.noise()).toEqual([]);
});

test('without a sign-in it ends at once and says how to sign in', async () => {
  const host = await setup.host({ token: undefined, url: undefined });
  host.send({ id: 1, method: 'initialize', params: {} });
  expect((await host.exit()).code).toBe(4);
  expect(host.stderr()).toMatch(/^not_authenticated: .*kaiwu auth login/m);
  expect(host.noise()).toEqual([]);
});

test('without a sign-in it also ends so for input that is over already', async () => {
  const host = await setup.host({ token: undefined, url: undefined });
  host.send({ id: 1, method: 'tools/list' });
  host.child.stdin?.end();
  expect((await host.exit()).code).toBe(4);
  expect(host.noise()).toEqual([]);
});

test('with the sign-in revoked the process lives and calls say so', async () => {
  await setup.backend();
  const host = await setup.host({ token: 'revoked' });
  await host.initialize();
  expect((await host.request('tools/list')).result.tools.length).toBeGreaterThan(0);
  const { result } = await host.request('tools/call', call);
  expect(result).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'not_authenticated' } },
  });
  expect(host.child.exitCode).toBeNull();
  expect(host.noise()).toEqual([]);
});

test('with the backend out of reach', async () => {
  const host = await setup.host({ url: 'http://127.0.0.1:9', token: 'x' });
  await host.initialize();
  const { result } = await host.request('tools/call', call);
  expect(result.structuredContent.error).toMatchObject({ code: 'backend_unreachable', retryable: true });
  expect(host.noise()).toEqual([]);
});

test('with a damaged cache of tools and without the built-in ones', async () => {
  const backend = await setup.backend();
  const cacheFile = await setup.path('cache.json');
  await writeFile(cacheFile, '{"etag":"\\"fake-0\\"","catalog":{"actions":[{}]}}');
  const host = await setup.host({ cacheFile, builtinFile: '/nowhere' });
  await host.initialize();
  expect((await host.request('tools/list')).result.tools.length).toBeGreaterThan(0);
  await backend.stop();
  expect(host.noise()).toEqual([]);
});

test('told to end in the middle of a call', async () => {
  const backend = await setup.backend();
  backend.answer = () => new Promise(() => undefined);
  const host = await setup.host();
  await host.initialize();
  const answer = host.request('tools/call', call);
  await until('the call', () => backend.calls.length === 1);
  host.child.kill('SIGTERM');
  expect((await answer).result.structuredContent.error.code).toBe('canceled');
  expect(await host.exit()).toMatchObject({ code: 0 });
  expect(host.noise()).toEqual([]);
});

test('what is no message is answered by an error, and the process goes on', async () => {
  await setup.backend();
  const host = await setup.host();
  await host.initialize();
  for (const line of ['garbage', '42', '[]', '{}', '{"jsonrpc":"1.0","id":"a","method":"ping"}', '', '\r']) {
    host.write(`${line}\n`);
  }
  host.write(
    '{"jsonrpc":"2.0","id":null,"method":"ping"}\n{"jsonrpc":"2.0","id":"b","method":"ping","params":[1]}\n',
  );
  host.write('{"jsonrpc":"2.0","id":99,"result":{}}\n{"jsonrpc":"2.0","id":"c","method":"no/such"}\n');
  host.write('[{"jsonrpc":"2.0","id":"d","method":"ping"},{"jsonrpc":"2.0","id":"e","method":"ping"}]\n');
  host.write('{"jsonrpc":"2.0","id":"f","method":"tools/list","params":{"cursor":"x"}}\n');
  host.write('{"jsonrpc":"2.0","id":"g","method":"tools/call","params":{"arguments":{}}}\n');
  host.write('{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"a","arguments":"text"}}\n');
  host.write('{"jsonrpc":"2.0","id":"i","method":"ping","extra":1,"params":null}\r\n');
  await host.message(({ id }) => id === 'i');
  const codeOf = (id: string | null) =>
    host
      .messages()
      .filter((message) => message.id === id)
      .map(({ error }) => error?.code);
  expect(codeOf(null)).toEqual([-32700, -32600, -32600, -32600, -32600]);
  expect(Object.fromEntries([...'abcdefghi'].map((id) => [id, codeOf(id)]))).toEqual({
    a: [-32600],
    b: [-32602],
    c: [-32601],
    d: [undefined],
    e: [undefined],
    f: [-32602],
    g: [-32602],
    h: [-32602],
    i: [undefined],
  });
  expect(host.noise()).toEqual([]);
});
