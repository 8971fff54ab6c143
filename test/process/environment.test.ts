import { expect, it } from 'vitest';
import { toChildEnvironment } from '../../src/process/environment.ts';

const of = (env: Record<string, string>, own: Record<string, string> = {}) =>
  toChildEnvironment(env, { inherit: [], env: own });

it('behind a proxy, an agent reaches its own machine past it', () => {
  const names = '127.0.0.1,localhost';
  expect(of({ http_proxy: 'http://proxy:3128' })).toMatchObject({ no_proxy: names, NO_PROXY: names });
  const given = of({ HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'corp.example, localhost' });
  expect(given).toMatchObject({ no_proxy: 'corp.example,localhost,127.0.0.1' });
  expect(of({}, { ALL_PROXY: 'socks5://proxy' })).toMatchObject({ NO_PROXY: names });
});

it('without a proxy nothing is added', () => {
  expect(of({ PATH: '/bin', NO_PROXY: 'x', SECRET: 'y' })).toEqual({ PATH: '/bin', NO_PROXY: 'x' });
});
