import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitGone } from '../../helpers/processes.ts';
import { Skip } from '../result.ts';
import type { Seat } from '../seat.ts';
import { expect, expectReply, heardSince, shown, type Step } from './step.ts';
import { FIRST_WORDS } from './talk.ts';

/** Works in another session of the same workspace, then comes back. */
async function inside(seat: Seat, other: string, work: () => Promise<void>): Promise<void> {
  const { sessionId } = seat;
  seat.sessionId = other;
  try {
    await work();
    await seat.exec('session.stop', { sessionId: other });
  } finally {
    seat.sessionId = sessionId;
  }
}

async function second(seat: Seat): Promise<void> {
  await inside(seat, await seat.spawn(), async () =>
    expectReply(await seat.tell('%say beside it'), 'beside it'),
  );
  expectReply(await seat.tell('%say undisturbed'), 'undisturbed');
}

async function fork(seat: Seat): Promise<void> {
  const { features = [] } = await seat.info();
  if (!features.includes('fork')) throw new Skip('it cannot fork a conversation');
  const { sessionId } = (await seat.exec('session.fork', { sessionId: seat.sessionId })) as {
    sessionId: string;
  };
  await inside(seat, sessionId, async () => {
    const from = seat.model.seen.length;
    expectReply(await seat.tell('%say on another branch'), 'on another branch');
    expect(heardSince(seat, from).includes(FIRST_WORDS), 'the model was not given the old words');
  });
}

async function resume(seat: Seat): Promise<void> {
  const { recipe, sessionId } = seat;
  const { createdAt } = await seat.session();
  // The agent's own limit, which is one of time.
  const left = (recipe.restsBeforeLoad ?? 0) - (Date.now() - Date.parse(createdAt));
  if (left > 0) await sleep(left);
  const before = seat.processes(sessionId);
  const state = readFileSync(join(seat.world.home, 'profiles/local/daemon.json'), 'utf8');
  const from = seat.feed.entries.length;
  process.kill((JSON.parse(state) as { pid: number }).pid, 'SIGKILL');
  const linked = () =>
    seat.feed.entries.slice(from).find((entry) => entry.type === 'machine.changed' && entry.online);
  await seat.feed.until('a new daemon', linked, 60_000);
  const strays = await waitGone(before, 15_000);
  expect(
    strays.length === 0,
    `of the dead daemon's agent live on: ${shown(strays.map(({ command }) => command))}`,
  );
  const asked = seat.model.seen.length;
  expectReply(await seat.tell('%say after the crash'), 'after the crash');
  expect(heardSince(seat, asked).includes(FIRST_WORDS), 'the model was not given the old words');
  const started = (await seat.events()).findLast((event) => event.type === 'session_started');
  expect(started?.resumed === 'loaded', `the conversation came back as ${started?.resumed}`);
}

async function stop(seat: Seat): Promise<void> {
  const before = seat.processes(seat.sessionId);
  expect(before.length > 0, 'no process of it was found before');
  await seat.exec('session.stop', { sessionId: seat.sessionId });
  const strays = [...(await waitGone(before, 10_000)), ...seat.processes(seat.sessionId)];
  expect(strays.length === 0, `it left ${shown(strays.map(({ command }) => command))}`);
  expect((await seat.session()).status === 'stopped', 'its status is not stopped');
}

export const LIFE = {
  second: { step: 'second', shows: 'Two sessions in one workspace', run: second },
  fork: { step: 'fork', shows: 'Forks a conversation', run: fork },
  resume: { step: 'resume', shows: 'Goes on after `kill -9` of the daemon', run: resume },
  stop: { step: 'stop', shows: 'Stops and leaves no process', run: stop },
} satisfies Record<string, Step>;
