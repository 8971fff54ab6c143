import { expect, it } from 'vitest';
import { searxngOf } from '../../../src/app/searxng.ts';

const BASE = { KAIWU_SEARXNG_ENABLED: 'true', KAIWU_SEARXNG_BASE_URL: 'http://127.0.0.1:8888' };

it('reads all of it, and nothing where it is off', () => {
  expect(searxngOf({})).toBeUndefined();
  expect(searxngOf({ ...BASE, KAIWU_SEARXNG_ENABLED: 'false' })).toBeUndefined();
  expect(
    searxngOf({
      ...BASE,
      KAIWU_SEARXNG_MAX_RESULTS: '5',
      KAIWU_SEARXNG_DEFAULT_LANGUAGE: 'zh-CN',
      KAIWU_SEARXNG_TIMEOUT_SECONDS: '7',
    }),
  ).toEqual({
    id: 'searxng',
    kind: 'searxng',
    base_url: 'http://127.0.0.1:8888',
    max_results: 5,
    default_language: 'zh-CN',
    timeout_seconds: 7,
  });
});

it.each([
  ['ENABLED', 'maybe'],
  ['BASE_URL', ''],
  ['BASE_URL', 'file:///etc'],
  ['BASE_URL', 'http://u:p@x'],
  ['MAX_RESULTS', '0'],
  ['MAX_RESULTS', '21'],
  ['MAX_RESULTS', '5x'],
  ['DEFAULT_LANGUAGE', 'english please'],
  ['TIMEOUT_SECONDS', '301'],
])('%s=%j is an error that names it', (name, value) => {
  expect(() => searxngOf({ ...BASE, [`KAIWU_SEARXNG_${name}`]: value })).toThrow(`KAIWU_SEARXNG_${name}`);
});
