import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/registry.ts';
import { startWorld } from '../test/helpers/world.ts';
import type { Row } from './stats.ts';
import { inTurn, median } from './stats.ts';
import { INITIALIZE, startHost, timeToToolList } from './stdio-host.ts';

const RUNS = 15;
const bin = join(root, 'bin/kaiwu');

interface Pair {
  env: NodeJS.ProcessEnv;
  /** Arguments for node of either server. */
  ours: string[];
  reference: string[];
}

/** A warm backend, and a reference server that answers the very list that it gives. */
async function withPair<T>(reference: string, scratch: string, use: (pair: Pair) => Promise<T>): Promise<T> {
  const world = await startWorld();
  try {
    const host = startHost(process.execPath, [bin, 'mcp', 'serve'], world.env);
    await host.request('initialize', INITIALIZE);
    const list = join(scratch, 'tools.json');
    writeFileSync(list, JSON.stringify(await host.request('tools/list')));
    await host.close();
    return await use({ env: world.env, ours: [bin, 'mcp', 'serve'], reference: [reference, list] });
  } finally {
    await world.stop();
  }
}

export const measureStart = (reference: string, scratch: string): Promise<Row> =>
  withPair(reference, scratch, async (pair) => {
    const time = (args: string[]) => () => timeToToolList(process.execPath, args, pair.env);
    await inTurn(2, time(pair.ours), time(pair.reference));
    const { a, b } = await inTurn(RUNS, time(pair.ours), time(pair.reference));
    return {
      what: 'spawn to `tools/list` answered, backend warm, median',
      ours: `${median(a).toFixed(0)} ms`,
      reference: `${median(b).toFixed(0)} ms, same SDK and list, nothing else`,
      ratio: (median(a) / median(b)).toFixed(2),
      target: 'at most 1.6',
    };
  });

/** Memory after the first list, once both have been left alone for a moment. */
export const measureMemory = (reference: string, scratch: string): Promise<Row> =>
  withPair(reference, scratch, async (pair) => {
    const measure = (args: string[]) => async () => {
      const host = startHost(process.execPath, args, pair.env);
      await host.request('initialize', INITIALIZE);
      await host.request('tools/list');
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const resident = host.residentMiB();
      await host.close();
      return resident;
    };
    const { a, b } = await inTurn(5, measure(pair.ours), measure(pair.reference));
    return {
      what: 'resident memory of an idle `mcp serve`, median',
      ours: `${median(a).toFixed(1)} MiB`,
      reference: `${median(b).toFixed(1)} MiB, the same reference`,
      ratio: (median(a) / median(b)).toFixed(2),
      target: 'at most 1.4',
    };
  });
