import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAX_OPEN_RUNS, MAX_RUNS_AT_ONCE } from '../../src/core/run.ts';
import { fenced, openRuns, PLAN, type RunsWorld, TARGET } from './helpers/runs.ts';
import { errorOf, openWorld, type World } from './helpers/world.ts';

let world: World;
let runs: RunsWorld;
let reply: string | undefined;

beforeEach(async () => {
  reply = fenced(PLAN);
  world = await openWorld();
  runs = await openRuns(world, { reply: () => reply });
});
afterEach(() => world.end());

it('is done by the session’s own agent where none is named', async () => {
  const { runId, runs: started } = await runs.start({ backendTarget: undefined });
  expect(started[0].backendTarget).toEqual(TARGET);
  expect(await runs.reaches(runId, 'succeeded')).toMatchObject({ backendTarget: TARGET, result: PLAN });
});

it('refuses one agent beside several', async () => {
  const both = { backendTarget: TARGET, backendTargets: [TARGET] };
  await expect(runs.start(both)).rejects.toThrow(/backendTarget/);
});

it('lets no more wait than a session may have, and starts none of a batch that does not fit', async () => {
  reply = undefined;
  const eight = { backendTargets: Array.from({ length: 8 }, () => TARGET), backendTarget: undefined };
  for (let open = 0; open + 8 <= MAX_OPEN_RUNS; open += 8) await runs.start(eight);
  const input = { sessionId: runs.parent, intent: 'plan', instructions: 'Plan it.', ...eight };
  const refused = errorOf(await world.call(runs.token, 'execution.run.start', input));
  expect(refused).toMatchObject({ code: 'rate_limited', details: { limit: MAX_OPEN_RUNS } });
  expect(await world.store.runs.countOpen(runs.parent)).toBe(MAX_OPEN_RUNS - (MAX_OPEN_RUNS % 8));
  const running = await world.store.runs.list({ status: 'running' }, { limit: 200 });
  expect(running.items.length).toBe(MAX_RUNS_AT_ONCE);
});
