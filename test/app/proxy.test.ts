import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Home, makeHome } from '../helpers/signed-in.ts';

let home: Home;
beforeAll(async () => {
  home = await makeHome();
});
afterAll(() => home.remove());

it.each([
  ['HTTPS_PROXY', 'http://user:hunter2@proxy.example:99999', '"http://***@proxy.example:99999"'],
  ['https_proxy', 'socks5://user:hun@ter2@x:1', '"socks5://***@x:1"'],
  ['ALL_PROXY', 'user:hunter2@pro xy', '"***@pro xy"'],
])('an unusable %s is told of once, without its password, and not used', async (name, value, shown) => {
  const { code, stderr } = await home.cli(['server', 'test', '--server-url', 'https://kaiwu.invalid'], {
    env: { [name]: value },
  });
  expect(code).toBe(7);
  expect(stderr.match(/Warning: .*/g)).toEqual([expect.stringContaining(`Warning: ${name} is ${shown}`)]);
  expect(stderr).toContain('error backend_unreachable: The backend at https://kaiwu.invalid cannot be used');
  expect(stderr).not.toContain('ter2');
});
