import { expect, it } from 'vitest';
import { LINK_MAX_FRAME } from '../../src/core/link.ts';
import type { ServerState } from '../../src/core/managed/managed.ts';
import { toReport } from '../../src/daemon/managed/report.ts';

const AT = '2030-01-01T00:00:00.000Z';
const stateOf = (key: string, bytes: number): ServerState => ({
  key,
  status: 'ready',
  tools: [{ name: 'a', description: '漢'.repeat(Math.floor(bytes / 3)), inputSchema: {} }],
  warnings: [],
  noiseLines: 0,
  starts: 1,
  since: AT,
});
const none = { servers: () => [], problem: () => undefined, warnings: () => [] };

it('a report fits into one frame: the largest listings are left out, which is said', () => {
  const MIB = 1024 * 1024;
  const sizes = { small: 1000, large: 3.9 * MIB, middle: 2 * MIB, larger: 4 * MIB };
  const states = Object.entries(sizes).map(([key, bytes]) => stateOf(key, bytes));
  const report = toReport(states, none, () => AT);
  expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(LINK_MAX_FRAME);
  const listed = report.filter(({ state }) => state.tools !== undefined).map(({ state }) => state.key);
  expect(listed).toEqual(['small', 'large', 'middle']);
  expect(report.find(({ state }) => state.key === 'larger')?.state.warnings).toEqual([
    expect.stringContaining('too large'),
  ]);
});

it('a file with which something is wrong stands among the servers', () => {
  const own = { ...none, problem: () => 'no JSON', warnings: () => [] };
  expect(toReport([], own, () => AT)).toMatchObject([
    { state: { status: 'failed', reason: 'no JSON' }, config: { name: 'mcp-servers-file' } },
  ]);
  const odd = { ...none, warnings: () => ['x'.repeat(9000)] };
  const [entry] = toReport([], odd, () => AT);
  expect(entry?.state).toMatchObject({ status: 'degraded' });
  expect(entry?.state.warnings[0]).toHaveLength(2000);
});
