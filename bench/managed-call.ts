import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { root } from '../scripts/registry.ts';
import { createApi } from '../test/e2e/helpers/api.ts';
import { startWorld } from '../test/helpers/world.ts';
import { quantile, type Row } from './stats.ts';

const WARM_UP = 96;
const CALLS = 576;

async function startEcho() {
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, 'bench/http-echo.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    url,
    async close() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

type Call = () => Promise<unknown>;

/** Milliseconds of each call, with so many callers at once. */
async function timesOf(call: Call, callers: number): Promise<number[]> {
  const one = async () => {
    const started = performance.now();
    await call();
    return performance.now() - started;
  };
  return Promise.all(Array.from({ length: callers }, one));
}

/** Both in turn, round by round, so that both meet the same machine. */
async function compare(a: Call, b: Call, callers: number, calls: number) {
  const times = { a: [] as number[], b: [] as number[] };
  for (let done = 0; done < calls; done += callers) {
    times.a.push(...(await timesOf(a, callers)));
    times.b.push(...(await timesOf(b, callers)));
  }
  return times;
}

/** A call of a managed tool through the backend (policy, approval, audit and all) against the same call direct. */
export async function measureManagedCall(): Promise<Row[]> {
  const echo = await startEcho();
  const world = await startWorld();
  const client = new Client({ name: 'bench', version: '1.0.0' });
  try {
    const api = createApi(world);
    await api.output('mcp.server.add', { name: 'echo', url: echo.url });
    await client.connect(new StreamableHTTPClientTransport(new URL(echo.url)));
    const args = { text: 'a line of text that is about as long as such lines are' };
    const through = () => api.output('mcp.tool.call', { server: 'echo', tool: 'echo', arguments: args });
    const direct = () => client.callTool({ name: 'echo', arguments: args });
    const rows: Row[] = [];
    for (const callers of [1, 32]) {
      // Connections stand then; each new one costs the backend a look at who is behind it.
      await compare(through, direct, callers, WARM_UP);
      const { a, b } = await compare(through, direct, callers, CALLS);
      for (const share of [0.5, 0.99]) {
        const [ours, reference] = [quantile(a, share), quantile(b, share)];
        rows.push({
          what: `a tool of a managed server over HTTP, ${callers === 1 ? '1 caller' : `${callers} callers`}, p${share * 100}`,
          ours: `${ours.toFixed(2)} ms`,
          reference: `${reference.toFixed(2)} ms, called directly`,
          ratio: `${(ours - reference).toFixed(2)} ms more`,
          target: callers === 1 && share === 0.5 ? 'at most 1 ms more' : '-',
        });
      }
    }
    return rows;
  } finally {
    await client.close();
    await world.stop();
    await echo.close();
  }
}
