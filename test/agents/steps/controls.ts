import type { ConfigOption } from '../../../src/core/session.ts';
import { toLine } from '../recipe.ts';
import { Skip } from '../result.ts';
import { type Seat, type Told, TURN_MS } from '../seat.ts';
import { expect, expectReply, shown, type Step } from './step.ts';

async function modelsOf({ exec, sessionId }: Seat): Promise<string[]> {
  const { models } = (await exec('agents.models.list', { sessionId })) as { models: { id: string }[] };
  return models.map(({ id }) => id);
}

async function model(seat: Seat): Promise<void> {
  const before = (await seat.session()).modelId;
  const others = (await modelsOf(seat)).filter((id) => id !== before);
  const wanted = others.find((id) => id === seat.recipe.secondModel) ?? others[0];
  if (wanted === undefined) throw new Skip('it offers one model only');
  await seat.exec('session.model.set', { sessionId: seat.sessionId, modelId: wanted });
  const from = seat.model.seen.length;
  const known = new Set(seat.model.seen.map((seen) => seen.model));
  expectReply(await seat.tell('%say by another model'));
  const heard = seat.model.seen.slice(from).map((seen) => seen.model);
  const isNew = heard.some((name) => !known.has(name));
  expect(isNew, `after ${wanted} the model asked for was still ${shown(heard)}`);
}

async function setting(seat: Seat): Promise<void> {
  const { sessionId } = seat;
  const list = async () =>
    (await seat.exec('session.config_option.list', { sessionId })).options as ConfigOption[];
  const option = (await list()).find(({ kind, options }) => kind === 'boolean' || options.length > 1);
  if (option === undefined) throw new Skip('it offers no settings of its own');
  const { configId, value: before } = option;
  const other = option.options.find(({ id }) => id !== String(before))?.id ?? String(before !== true);
  const set = (value: string) => seat.exec('session.config_option.set', { sessionId, configId, value });
  await set(other);
  const after = (await list()).find((one) => one.configId === configId)?.value;
  expect(String(after) === other, `${configId} is ${shown(after)} and not ${other}`);
  await set(String(before));
}

/** Starts a turn of so many words and resolves once it streams. */
async function startLongTurn(seat: Seat, words = 400): Promise<{ turn: Promise<Told> }> {
  const from = seat.feed.entries.length;
  const turn = seat.tell(`%drip ${words} 100`);
  turn.catch(() => undefined);
  const begun = () =>
    seat.feed.entries.slice(from).find((entry) => entry.type === 'delta' && entry.text.includes('drop'));
  await seat.feed.until('the start of the stream', begun, TURN_MS);
  return { turn };
}

async function interrupt(seat: Seat): Promise<void> {
  const { turn } = await startLongTurn(seat);
  await seat.exec('session.interrupt', { sessionId: seat.sessionId });
  const { status, reason } = await turn;
  expect(status === 'canceled', `the turn ended ${status}: ${shown(reason)}`);
  expectReply(await seat.tell('%say still here'), 'still here');
}

async function replace(seat: Seat): Promise<void> {
  const { turn } = await startLongTurn(seat);
  const next = await seat.tell('%say comes first', { input: { delivery: 'interrupt' } });
  expectReply(next, 'comes first');
  const { status } = await turn;
  expect(status === 'canceled', `the turn that was interrupted ended ${status}`);
}

async function steer(seat: Seat): Promise<void> {
  const { features = [] } = await seat.info();
  if (!features.includes('steer')) throw new Skip('it takes no message into a turn that runs');
  const { turn } = await startLongTurn(seat, 40);
  const steered = await seat.tell('%say steered-words', { input: { delivery: 'steer' } });
  expectReply(steered, 'steered-words');
  const { messageId } = await turn;
  const events = await seat.events(steered.messageId);
  const within = events.some((event) => event.type === 'user_message' && event.steered === messageId);
  expect(within, 'it did not reach the turn that ran');
}

async function queue(seat: Seat): Promise<void> {
  const from = seat.feed.entries.length;
  const { turn } = await startLongTurn(seat, 15);
  const second = await seat.tell('%say the second one');
  const first = await turn;
  expectReply(second, 'the second one');
  expectReply(first, 'drop14');
  const ids = [first.messageId, second.messageId];
  const streamed = seat.feed.entries
    .slice(from)
    .flatMap((entry) => (entry.type === 'delta' && ids.includes(entry.messageId) ? entry.messageId : []));
  const order = streamed.filter((id, at) => id !== streamed[at - 1]);
  expect(order.join() === ids.join(), `the two turns streamed as ${shown(order)}`);
}

async function question(seat: Seat): Promise<void> {
  const { question: how } = seat.recipe;
  if (how === undefined) throw new Skip('it asks no questions over ACP');
  const { sessionId } = seat;
  const setting = how.setting;
  if (setting !== undefined) await seat.exec('session.config_option.set', { sessionId, ...setting.on });
  const turn = seat.tell(toLine(how.call), { answer: 'allow' });
  turn.catch(() => undefined);
  const open = await seat.feed.until('a question', async () => (await seat.session()).question, TURN_MS);
  const field = open.fields.find(({ options }) => options !== undefined);
  const choice = field?.options?.find(({ name }) => name.includes('Blue'));
  expect(choice !== undefined, `the question offers ${shown(open.fields)}`);
  const content = { [field!.name]: field!.type === 'choices' ? [choice!.id] : choice!.id };
  await seat.exec('session.user_action.answer', { sessionId, answer: 'accept', content });
  expectReply(await turn, 'Blue');
  if (setting !== undefined) await seat.exec('session.config_option.set', { sessionId, ...setting.off });
}

export const CONTROLS = {
  model: { step: 'model', shows: 'Changes its model', run: model },
  setting: { step: 'setting', shows: 'Changes a setting of its own', run: setting },
  interrupt: { step: 'interrupt', shows: 'Turn interrupted; the next one works', run: interrupt },
  replace: { step: 'replace', shows: 'A message that interrupts', run: replace },
  queue: { step: 'queue', shows: 'Messages queue, in order', run: queue },
  steer: { step: 'steer', shows: 'A message into a turn that runs', run: steer },
  question: { step: 'question', shows: 'Asks a person a question', run: question },
} satisfies Record<string, Step>;
