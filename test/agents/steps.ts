import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitGone } from '../helpers/processes.ts';
import { expect, shown } from './check.ts';
import { Skip } from './result.ts';
import { toLine } from './recipe.ts';
import { type Seat, type Told, TURN_MS } from './seat.ts';

/** One thing that has to hold for an agent. */
export interface Step {
  step: string;
  /** For people: what it shows. */
  shows: string;
  /** Nothing after it makes sense where it fails. */
  vital?: true;
  run(seat: Seat): Promise<void>;
}

const path = (seat: Seat, name: string): string => join(seat.workspace, name);

function expectCompleted({ status, reason }: Told): void {
  expect(status === 'completed', `the turn ended ${status}: ${shown(reason)}`);
}

async function detect(seat: Seat): Promise<void> {
  const { recipe } = seat;
  const info = await seat.feed
    .until(
      'a version',
      async () => {
        const found = await seat.info();
        return found.version === undefined ? undefined : found;
      },
      20_000,
    )
    .catch(() => seat.info());
  expect(info.available, `it is not available: ${info.reason}`);
  expect(info.version === recipe.version, `version ${shown(info.version)} and not ${recipe.version}`);
  expect(info.state === undefined || info.state === 'ready', `its state is ${info.state}: ${info.reason}`);
}

async function message(seat: Seat): Promise<void> {
  const told = await seat.tell('%say first-words are here');
  expectCompleted(told);
  expect(told.reply?.includes('first-words are here') === true, `the reply is ${shown(told.reply)}`);
}

async function stream(seat: Seat): Promise<void> {
  const told = await seat.tell('%drip 12 60');
  expectCompleted(told);
  expect(told.deltas.length > 2, `${told.deltas.length} parts of it were streamed`);
  expect(
    told.deltas.join('').includes('drop11'),
    `what was streamed ends ${shown(told.deltas.join('').slice(-60))}`,
  );
  const kept = (await seat.events()).filter(
    (event) => event.type === 'agent_text' && event.messageId === told.messageId,
  );
  expect(kept.length < told.deltas.length, `${kept.length} events for ${told.deltas.length} parts`);
}

async function permission(seat: Seat, answer: 'allow' | 'deny'): Promise<Told> {
  const name = `${answer}.txt`;
  const told = await seat.tell(toLine(seat.recipe.call.shell(`date > ${name}`)), { answer });
  expect(told.asked.length === 1, `it asked ${told.asked.length} times`);
  const happened = existsSync(path(seat, name));
  expect(happened === (answer === 'allow'), happened ? 'it ran all the same' : 'it did not run');
  return told;
}

async function allowed(seat: Seat): Promise<void> {
  expectCompleted(await permission(seat, 'allow'));
}

async function denied(seat: Seat): Promise<void> {
  const { status, reason } = await permission(seat, 'deny');
  // Some agents end the turn as canceled when they hear no.
  expect(status === 'completed' || status === 'canceled', `the turn ended ${status}: ${shown(reason)}`);
}

async function ownTool(seat: Seat): Promise<void> {
  const title = 'Named by its own agent';
  const told = await seat.tell(toLine(seat.recipe.call.kaiwu('change_title', { title })), {
    answer: 'allow',
  });
  expectCompleted(told);
  const session = await seat.session();
  expect(session.title === title, `the title is ${shown(session.title)}; the reply was ${shown(told.reply)}`);
}

const setMode = (seat: Seat, permissionMode: string) =>
  seat.exec('session.permission_mode.set', { sessionId: seat.sessionId, permissionMode });

async function readOnly(seat: Seat): Promise<void> {
  await setMode(seat, 'read_only');
  for (const call of ['shell', 'write'] as const) {
    const file = path(seat, `read-only-${call}.txt`);
    const line =
      call === 'shell' ? seat.recipe.call.shell(`date > ${file}`) : seat.recipe.call.write(file, 'no');
    const { status, reason } = await seat.tell(toLine(line));
    expect(status !== 'failed', `the turn failed: ${shown(reason)}`);
    expect(!existsSync(file), `${call} changed the workspace`);
  }
}

async function freeMode(seat: Seat): Promise<void> {
  const { freeMode: mode } = seat.recipe;
  if (mode === undefined) throw new Skip('it has no mode that writes unasked');
  await setMode(seat, mode);
  const file = path(seat, 'free.txt');
  const told = await seat.tell(toLine(seat.recipe.call.write(file, 'written unasked')));
  expectCompleted(told);
  const byPeople = told.asked.length;
  expect(existsSync(file), `${mode} did not let it write; ${byPeople} requests waited`);
  expect(readFileSync(file, 'utf8').trim() === 'written unasked', 'the file holds something else');
  await setMode(seat, 'default');
  expect((await seat.session()).permissionMode === 'default', 'it did not go back to default');
}

async function modelChange(seat: Seat): Promise<void> {
  const { models } = (await seat.exec('agents.models.list', { sessionId: seat.sessionId })) as {
    models: { id: string }[];
  };
  const before = (await seat.session()).modelId;
  const others = models.map(({ id }) => id).filter((id) => id !== before);
  const wanted = others.find((id) => id === seat.recipe.secondModel) ?? others[0];
  if (wanted === undefined) throw new Skip('it offers one model only');
  await seat.exec('session.model.set', { sessionId: seat.sessionId, modelId: wanted });
  const asked = seat.model.seen.length;
  const known = new Set(seat.model.seen.map(({ model }) => model));
  expectCompleted(await seat.tell('%say by another model'));
  const heard = seat.model.seen.slice(asked).map(({ model }) => model);
  expect(
    heard.some((model) => !known.has(model)),
    `after ${wanted} the model asked for was still ${shown(heard)}`,
  );
  if (before !== undefined)
    await seat.exec('session.model.set', { sessionId: seat.sessionId, modelId: before });
}

async function interrupt(seat: Seat): Promise<void> {
  const from = seat.feed.entries.length;
  const turn = seat.tell('%drip 400 100');
  turn.catch(() => undefined);
  await seat.feed.until(
    'the start of the stream',
    () =>
      seat.feed.entries.slice(from).find((entry) => entry.type === 'delta' && entry.text.includes('drop')),
    TURN_MS,
  );
  await seat.exec('session.interrupt', { sessionId: seat.sessionId });
  const told = await turn;
  expect(told.status === 'canceled', `the turn ended ${told.status}: ${shown(told.reason)}`);
  const next = await seat.tell('%say still here');
  expectCompleted(next);
  expect(next.reply?.includes('still here') === true, `the next reply is ${shown(next.reply)}`);
}

async function failure(seat: Seat): Promise<void> {
  const told = await seat.tell('%fail 400');
  const next = await seat.tell('%say after the failure');
  expectCompleted(next);
  if (told.status !== 'failed') throw new Skip(`it says so in the turn, which it ends as ${told.status}`);
  expect((told.reason?.message ?? '') !== '', 'it failed without a reason');
}

async function usage(seat: Seat): Promise<void> {
  const { usage: used } = await seat.session();
  if (used === undefined) throw new Skip('it does not say what a turn used');
  expect(
    Object.values(used).some((value) => typeof value === 'number' && value > 0),
    `usage is ${shown(used)}`,
  );
}

async function resume(seat: Seat): Promise<void> {
  const { recipe, sessionId } = seat;
  const { createdAt } = await seat.session();
  // The agent's own limit, which is one of time.
  const age = Date.now() - Date.parse(createdAt);
  if (recipe.restsBeforeLoad !== undefined && age < recipe.restsBeforeLoad)
    await sleep(recipe.restsBeforeLoad - age);
  const before = seat.processes(sessionId);
  const state = JSON.parse(readFileSync(join(seat.world.home, 'profiles/local/daemon.json'), 'utf8')) as {
    pid: number;
  };
  const from = seat.feed.entries.length;
  process.kill(state.pid, 'SIGKILL');
  await seat.feed.until(
    'a new daemon',
    () => seat.feed.entries.slice(from).find((entry) => entry.type === 'machine.changed' && entry.online),
    60_000,
  );
  const left = await waitGone(before, 15_000);
  expect(
    left.length === 0,
    `processes of the dead daemon's agent live on: ${shown(left.map(({ command }) => command))}`,
  );
  const asked = seat.model.seen.length;
  const told = await seat.tell('%say after the crash');
  expectCompleted(told);
  const texts = seat.model.seen.slice(asked).flatMap(({ entries }) => entries.map(({ text }) => text));
  expect(
    texts.some((text) => text.includes('first-words')),
    'the model was not given the old words',
  );
}

async function stop(seat: Seat): Promise<void> {
  const before = seat.processes(seat.sessionId);
  expect(before.length > 0, 'no process of it was found before');
  await seat.exec('session.stop', { sessionId: seat.sessionId });
  const left = await waitGone(before, 10_000);
  const now = seat.processes(seat.sessionId);
  expect(left.length + now.length === 0, `it left ${shown([...left, ...now].map(({ command }) => command))}`);
  expect((await seat.session()).status === 'stopped', 'its status is not stopped');
}

/** In the order in which they run; each goes on from where the one before left the session. */
export const STEPS: Step[] = [
  { step: 'detect', shows: 'Found with its version, ready', run: detect },
  {
    step: 'spawn',
    shows: 'Session starts',
    vital: true,
    async run(seat) {
      seat.sessionId = await seat.spawn();
    },
  },
  { step: 'message', shows: 'Answers a message', run: message },
  { step: 'stream', shows: 'Streams its answer', run: stream },
  { step: 'allow', shows: 'Asks; runs when allowed', run: allowed },
  { step: 'deny', shows: 'Asks; does not run when denied', run: denied },
  { step: 'own-tool', shows: "Calls Kaiwu's own tool", run: ownTool },
  { step: 'read-only', shows: 'read_only changes nothing', run: readOnly },
  { step: 'free-mode', shows: 'A freer mode writes unasked', run: freeMode },
  { step: 'model', shows: 'Changes its model', run: modelChange },
  { step: 'interrupt', shows: 'Turn interrupted, next one works', run: interrupt },
  { step: 'failure', shows: "Its model's failure fails the turn", run: failure },
  { step: 'usage', shows: 'Says what a turn used', run: usage },
  { step: 'resume', shows: 'Goes on after a daemon crash', run: resume },
  { step: 'stop', shows: 'Stops, leaving no process', run: stop },
];
