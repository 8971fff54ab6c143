import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MANAGED_TOOL_STATES } from '../../src/core/ports/managed.ts';
import { toChange, toSettings, toValues } from '../../src/web/settings/mcp/form-values.ts';
import type { Server } from '../../src/web/settings/mcp/servers.ts';

const serverOf = (config: Server['config'], secrets: string[] = []): Server => ({
  name: 'one',
  source: 'account',
  where: 'backend',
  status: 'ready',
  warnings: [],
  noiseLines: 0,
  starts: 1,
  since: '2026-01-01T00:00:00Z',
  config,
  secrets,
  toolCounts: Object.fromEntries(MANAGED_TOOL_STATES.map((state) => [state, 0])) as Server['toolCounts'],
});

test('a list goes into its field and out of it as it is, whatever is in it', () => {
  const odd = fc.constantFrom('', ' ', '[', '["a"]', 'a\nb', '\u202egnp', '\u{e0041}', '\t', '\r', '漢');
  const parts = fc.array(fc.oneof(odd, fc.string({ unit: 'binary' })), { minLength: 1 });
  fc.assert(
    fc.property(parts, (args) => {
      expect(toSettings(toValues(serverOf({ command: 'x', args })))).toMatchObject({ args });
    }),
  );
  expect(toValues(serverOf({ command: 'x', args: ['-y', 'b'] })).args).toBe('-y\nb');
  expect(toValues(serverOf({ command: 'x', args: ['\u202eb'] })).args).toBe('["\\u202eb"]');
});

test('only what was changed is sent; what a form shows no more is cleared', () => {
  const server = serverOf({ url: 'https://x.example/[redacted]', timeoutSeconds: 5, caFile: '/a' }, [
    'token',
    'url',
    'headers.A',
  ]);
  const values = toValues(server);
  expect(toChange(server, values)).toEqual({});
  expect(toChange(server, { ...values, timeoutSeconds: '', trusted: true })).toEqual({
    timeoutSeconds: null,
    trusted: true,
  });
  expect(toChange(server, { ...values, token: '', headers: [] })).toEqual({ token: null, headers: null });
  expect(toChange(server, { ...values, headers: [{ name: 'B', value: '1' }] })).toEqual({
    headers: { B: '1' },
  });
  expect(toChange(server, { ...values, way: 'command', command: 'npx' })).toEqual({
    url: null,
    caFile: null,
    command: 'npx',
    where: 'backend',
  });
});
