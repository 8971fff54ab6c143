import { join } from 'node:path';
import { createSqliteStore } from '../src/backend/store/sqlite/create-sqlite-store.ts';
import { createRuntime } from '../src/app/runtime.ts';
import { openSqlite } from '../src/local/sqlite.ts';
import { root } from '../scripts/registry.ts';
import { startWorld } from '../test/helpers/world.ts';
import type { Row } from './stats.ts';
import { inTurn, quantile } from './stats.ts';
import { INITIALIZE, startHost } from './stdio-host.ts';

const CALLS = 300;
const bin = join(root, 'bin/kaiwu');

/** A world whose database holds `count` sessions, and a host in it. */
async function worldWith(count: number) {
  const world = await startWorld();
  const runtime = createRuntime();
  const store = await createSqliteStore(openSqlite(join(world.home, 'backend/kaiwu.db')), runtime);
  for (let i = 0; i < count; i++) {
    await store.sessions.insert({
      sessionId: runtime.newId('sess'),
      agentId: 'demo',
      machineId: 'mach_bench',
      directory: `/projects/number-${i}`,
      permissionMode: 'default',
      title: `Session number ${i}`,
    });
  }
  await store.close();
  const host = startHost(process.execPath, [bin, 'mcp', 'serve'], world.env);
  await host.request('initialize', INITIALIZE);
  const call = async () => {
    const started = performance.now();
    const result = await host.request('tools/call', { name: 'session_list', arguments: { limit: 10 } });
    if (result['isError'] === true) throw new Error(JSON.stringify(result));
    return performance.now() - started;
  };
  const stop = async () => {
    await host.close();
    await world.stop();
  };
  return { call, stop };
}

/** From the host's line to SQLite and back, with many sessions stored against few. */
export async function measureSessionList(): Promise<Row[]> {
  const [many, few] = [await worldWith(10_000), await worldWith(10)];
  try {
    await inTurn(30, many.call, few.call);
    const { a, b } = await inTurn(CALLS, many.call, few.call);
    return [0.5, 0.99].map((share) => ({
      what: `\`session_list\` over stdio, 10,000 sessions stored, p${share * 100}`,
      ours: `${quantile(a, share).toFixed(1)} ms`,
      reference: `${quantile(b, share).toFixed(1)} ms, 10 sessions stored`,
      ratio: (quantile(a, share) / quantile(b, share)).toFixed(2),
      target: 'at most 1.5',
    }));
  } finally {
    await many.stop();
    await few.stop();
  }
}
