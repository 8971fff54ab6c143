import { delimiter, join } from 'node:path';
import { type FakeModel, startFakeModel } from '../helpers/fake-llm/server.ts';
import { makeFolder } from '../helpers/kaiwu.ts';
import { rm } from 'node:fs/promises';
import { startWorld, type World } from '../helpers/world.ts';
import { installAgent } from './install.ts';
import type { Recipe } from './recipe.ts';
import { type AgentResult, Skip, type StepResult, verdictOf } from './result.ts';
import { createSeat, type Seat } from './seat.ts';
import { STEPS } from './steps/index.ts';

/** Longest time, milliseconds, for all steps of one agent. */
const AGENT_MS = 7 * 60_000;

export interface MeasureOptions {
  /** On the clock of `performance.now()`: no step begins after it. */
  until: number;
  onStep?(result: StepResult): void;
}

const about = ({ agentId, package: name, version }: Recipe) => ({ agentId, package: name, version });

export const skippedAgent = (recipe: Recipe, reason: string): AgentResult => ({
  ...about(recipe),
  verdict: 'skipped',
  reason,
  steps: STEPS.map(({ step }) => ({ step, verdict: 'skipped', reason })),
});

/** Takes one agent through everything, in a world of its own. */
export async function measureAgent(recipe: Recipe, { until, onStep }: MeasureOptions): Promise<AgentResult> {
  let programs: string;
  try {
    programs = await installAgent(recipe);
  } catch (error) {
    return skippedAgent(recipe, messageOf(error));
  }
  const home = await makeFolder(`kaiwu-agent-${recipe.agentId}-`);
  const model = await startFakeModel();
  let world: World | undefined;
  const steps: StepResult[] = [];
  const note = (result: StepResult) => {
    steps.push(result);
    onStep?.(result);
  };
  try {
    world = await startAgentWorld(recipe, { home, programs, model });
    const seat = await createSeat(world, model, recipe);
    try {
      await runSteps(seat, note, Math.min(until, performance.now() + AGENT_MS));
    } finally {
      seat.feed.close();
    }
  } catch (error) {
    note({ step: 'world', verdict: 'failed', reason: messageOf(error) });
  } finally {
    await world
      ?.stop()
      .catch((error: unknown) => note({ step: 'end', verdict: 'failed', reason: messageOf(error) }));
    await model.close();
    if (process.env.KAIWU_AGENTS_KEEP === undefined) await rm(home, { recursive: true, force: true });
  }
  return { ...about(recipe), verdict: verdictOf(steps), steps };
}

async function startAgentWorld(
  recipe: Recipe,
  { home, programs, model }: { home: string; programs: string; model: FakeModel },
): Promise<World> {
  const env = await recipe.configure({ home: join(home, 'user'), modelUrl: model.url });
  const path = [programs, process.env.PATH ?? ''].join(delimiter);
  return startWorld({ home, env: { ...env, PATH: path } });
}

async function runSteps(seat: Seat, note: (result: StepResult) => void, until: number): Promise<void> {
  let blocked: string | undefined;
  for (const { step, vital, run } of STEPS) {
    if (performance.now() > until) blocked ??= 'not reached: its time was over';
    const lack = seat.recipe.lacks[step] ?? blocked;
    if (lack !== undefined) {
      note({ step, verdict: 'skipped', reason: lack });
      continue;
    }
    const startedAt = performance.now();
    const ms = () => Math.round(performance.now() - startedAt);
    try {
      await run(seat);
      note({ step, verdict: 'passed', ms: ms() });
    } catch (error) {
      const verdict = error instanceof Skip ? 'skipped' : 'failed';
      note({ step, verdict, reason: messageOf(error), ms: ms() });
      if (vital === true && verdict === 'failed') blocked = `not reached: ${step} failed`;
    }
  }
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 500);
