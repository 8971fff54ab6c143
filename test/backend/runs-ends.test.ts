import { afterEach, beforeEach, expect, it } from 'vitest';
import { newestMessage, openRuns, type RunsWorld } from './helpers/runs.ts';
import { openWorld, type World } from './helpers/world.ts';

let world: World;
let runs: RunsWorld;

beforeEach(async () => {
  world = await openWorld();
  runs = await openRuns(world, { reply: () => undefined });
});
afterEach(() => world.end());

it.each([
  ['its daemon cuts short has failed', 'daemon_not_running', 'failed'],
  ['a person stops is cancelled', 'canceled', 'cancelled'],
])('a run whose turn %s', async (_, code, status) => {
  const { runId } = await runs.start();
  await runs.reaches(runId, 'running');
  for (;;) {
    const { events } = await world.ok(runs.token, 'execution.run.stream.read', { runId, limit: 200 });
    if (events.some((event: { type: string }) => event.type === 'agent_text')) break;
  }
  const { runSessionId } = await runs.run(runId);
  const messageId = newestMessage(runs.daemon, runSessionId);
  const reason = { code, message: 'it was stopped' };
  await runs.daemon.record(
    runSessionId,
    { type: 'turn_ended', messageId, outcome: 'canceled', reason },
    { type: 'session_stopped', reason },
  );
  expect(await runs.reaches(runId, status)).toMatchObject({ reason });
});
