import { request } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createControlServer } from '../../src/daemon/control/control-server.ts';
import { collectLog, createWorld } from './helpers/world.ts';

async function serve() {
  const world = await createWorld();
  const onStop = vi.fn<() => void>();
  const control = await createControlServer({
    token: 'secret',
    daemon: world.daemon,
    pid: 4242,
    log: collectLog([]),
    onStop,
  });
  onTestFinished(() => control.close());
  const ask = (
    method: string,
    path: string,
    headers: Record<string, string> = { authorization: 'Bearer secret' },
  ) =>
    new Promise<{ status: number; body: Record<string, unknown> }>((resolve, reject) => {
      const asked = request(
        { host: '127.0.0.1', port: control.port, method, path, headers, agent: false },
        (response) => {
          let text = '';
          response.on('data', (part) => {
            text += part;
          });
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Record<string, unknown> }),
          );
        },
      );
      asked.on('error', reject);
      asked.end();
    });
  return { world, ask, onStop, port: control.port };
}

test('status tells who runs, the link, the sessions and what waits', async () => {
  const { world, ask } = await serve();
  await world.start('s1');
  const { status, body } = await ask('GET', '/status');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    pid: 4242,
    version: '0.0.0-test',
    machineId: 'mach_test',
    link: { state: 'up', url: world.backend.url, attempts: 0 },
    sessions: [{ sessionId: 's1', agentId: 'demo', status: 'idle', queued: 0 }],
    outbox: { events: 0 },
  });
});

test('stop is told once the answer is out', async () => {
  const { ask, onStop } = await serve();
  expect(await ask('GET', '/stop')).toMatchObject({ status: 404 });
  expect(onStop).not.toHaveBeenCalled();
  expect(await ask('POST', '/stop')).toMatchObject({ status: 200, body: { stopping: true } });
  await vi.waitFor(() => expect(onStop).toHaveBeenCalledOnce());
});

test('without the token, under another name, or from a page, it answers nothing', async () => {
  const { ask, onStop } = await serve();
  const authorization = 'Bearer secret';
  expect(await ask('GET', '/status', {})).toMatchObject({
    status: 401,
    body: { error: { code: 'not_authenticated' } },
  });
  expect(await ask('POST', '/stop', { authorization: 'Bearer secreT' })).toMatchObject({ status: 401 });
  expect(await ask('POST', '/stop', { authorization, host: 'evil.example:80' })).toMatchObject({
    status: 403,
  });
  expect(await ask('POST', '/stop', { authorization, origin: 'http://evil.example' })).toMatchObject({
    status: 403,
  });
  expect(await ask('GET', '/nothing')).toMatchObject({ status: 404 });
  expect(onStop).not.toHaveBeenCalled();
});
