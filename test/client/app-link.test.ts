import { afterEach, expect, it } from 'vitest';
import { createAuthClient } from '../../src/client/auth-client.ts';
import { type FakeBackend, startFakeBackend } from '../helpers/fake-backend.ts';

let backend: FakeBackend;
afterEach(() => backend.close());

it('takes no link from a backend but one to a page', async () => {
  let url = '';
  backend = await startFakeBackend((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ url, expiresInSeconds: 300 }));
  });
  const auth = createAuthClient({ url: backend.url, token: 'kw_test', version: '0.0.0' });
  for (url of [
    'file:///usr/bin/x',
    'calculator:',
    String.raw`\\host\share\x.exe`,
    '--option',
    'javascript:x',
    '',
  ]) {
    await expect(auth.appLink()).rejects.toMatchObject({ code: 'backend_unreachable' });
  }
  url = 'https://kaiwu.example/#key=abc';
  expect(await auth.appLink()).toMatchObject({ url });
});
