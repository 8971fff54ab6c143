import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../scripts/registry.ts';
import { findInstalled } from '../test/agents/install.ts';
import { RECIPES } from '../test/agents/recipes.ts';
import { createApi } from '../test/e2e/helpers/api.ts';
import { startFakeModel } from '../test/helpers/fake-llm/server.ts';
import { makeFolder } from '../test/helpers/kaiwu.ts';
import { startWorld, type World } from '../test/helpers/world.ts';
import { type BareAgent, timeBareStart } from './bare-agent.ts';
import type { Row } from './stats.ts';
import { inTurn, median } from './stats.ts';

const RUNS = 11;
const SESSIONS = 20;

interface Candidate {
  agentId: string;
  name: string;
  env: Record<string, string>;
  /** How it is started without Kaiwu; its environment is the world's. */
  bare: Pick<BareAgent, 'command' | 'args'>;
}

/** What a session costs beside its agent: time until it is ready, and memory of the daemon. */
export async function measureSessionStart(): Promise<Row[]> {
  const demo: Candidate = {
    agentId: 'demo',
    name: 'demo agent',
    env: {},
    bare: { command: process.execPath, args: [join(root, 'dist/demo-agent.js')] },
  };
  const rows = [await withWorld(demo, measureTime), await withWorld(demo, measureDaemonMemory)];
  const model = await startFakeModel();
  const home = await makeFolder('kaiwu-bench-home-');
  try {
    const real = await findRealAgent(home, model.url);
    if (real !== undefined) rows.splice(1, 0, await withWorld(real, measureTime));
  } finally {
    await model.close();
    rmSync(home, { recursive: true, force: true });
  }
  return rows;
}

type Measure = (world: World, agent: Candidate, directory: string) => Promise<Row>;

async function withWorld(agent: Candidate, measure: Measure): Promise<Row> {
  const world = await startWorld({ env: agent.env });
  const directory = join(world.home, 'work');
  mkdirSync(directory);
  try {
    return await measure(world, agent, directory);
  } finally {
    await world.stop();
  }
}

const measureTime: Measure = async (world, { agentId, name, bare }, directory) => {
  const api = createApi(world);
  const product = async () => {
    const startedAt = performance.now();
    const { sessionId } = await api.output('session.spawn_new', { agentId, directory });
    const took = performance.now() - startedAt;
    await api.output('session.stop', { sessionId });
    return took;
  };
  const { KAIWU_HOME: _, ...env } = world.env;
  const alone = () => timeBareStart({ ...bare, env, directory });
  await inTurn(2, product, alone);
  const { a, b } = await inTurn(RUNS, product, alone);
  return {
    what: `start of a session, ${name}, median`,
    ours: `${median(a).toFixed(0)} ms`,
    reference: `${median(b).toFixed(0)} ms, the agent alone (initialize, session/new)`,
    ratio: `${median(a) < median(b) ? '' : '+'}${(median(a) - median(b)).toFixed(0)} ms`,
    target: 'at most 150 ms more',
  };
};

const measureDaemonMemory: Measure = async (world, { agentId, name }, directory) => {
  const api = createApi(world);
  const spawn = () => api.output('session.spawn_new', { agentId, directory });
  // The first session loads what all of them use.
  await spawn();
  const { pid } = JSON.parse(readFileSync(join(world.home, 'profiles/local/daemon.json'), 'utf8')) as {
    pid: number;
  };
  const before = await residentMiB(pid);
  for (let at = 0; at < SESSIONS; at += 1) await spawn();
  const added = ((await residentMiB(pid)) - before) / SESSIONS;
  return {
    what: `daemon memory of each of ${SESSIONS} open sessions with the ${name}`,
    ours: `${added.toFixed(2)} MiB`,
    reference: `${before.toFixed(0)} MiB, the daemon with one session`,
    ratio: '–',
    target: 'at most 15 MiB',
  };
};

/** Once it has been left alone for a moment. */
async function residentMiB(pid: number): Promise<number> {
  await sleep(2000);
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** The first real agent that the suite of agents has installed. */
async function findRealAgent(home: string, modelUrl: string): Promise<Candidate | undefined> {
  for (const recipe of RECIPES) {
    const programs = await findInstalled(recipe);
    if (programs === undefined) continue;
    const settings = await recipe.configure({ home, modelUrl });
    return {
      agentId: recipe.agentId,
      name: `${recipe.agentId} (${recipe.package} ${recipe.version})`,
      env: { ...settings, HOME: home, PATH: `${programs}:${process.env.PATH ?? ''}` },
      bare: { command: join(programs, recipe.binary), args: recipe.args },
    };
  }
  return undefined;
}
