import { existsSync, readFileSync } from 'node:fs';
import { toLine } from '../recipe.ts';
import { Skip } from '../result.ts';
import type { Seat, Told } from '../seat.ts';
import { expect, expectReply, inWorkspace, shown, type Step } from './step.ts';

async function asked(seat: Seat, answer: 'allow' | 'deny'): Promise<Told> {
  const name = `${answer}.txt`;
  const told = await seat.tell(toLine(seat.recipe.call.shell(`date > ${name}`)), { answer });
  expect(told.asked.length === 1, `it asked ${told.asked.length} times`);
  const happened = existsSync(inWorkspace(seat, name));
  expect(happened === (answer === 'allow'), happened ? 'it ran all the same' : 'it did not run');
  return told;
}

async function allow(seat: Seat): Promise<void> {
  const told = await asked(seat, 'allow');
  expectReply(told);
  const calls = (await seat.events(told.messageId)).filter((event) => event.type === 'tool_call');
  const ended = calls.some(({ status }) => status === 'completed');
  expect(ended, `the transcript shows the tool call as ${shown(calls.map(({ status }) => status))}`);
}

async function deny(seat: Seat): Promise<void> {
  const { status, reason } = await asked(seat, 'deny');
  // Some agents end the turn as canceled when they hear no.
  expect(status === 'completed' || status === 'canceled', `the turn ended ${status}: ${shown(reason)}`);
}

const setMode = (seat: Seat, permissionMode: string) =>
  seat.exec('session.permission_mode.set', { sessionId: seat.sessionId, permissionMode });

async function readOnly(seat: Seat): Promise<void> {
  await setMode(seat, 'read_only');
  for (const tool of ['shell', 'write'] as const) {
    const file = inWorkspace(seat, `read-only-${tool}.txt`);
    const { call } = seat.recipe;
    const line = toLine(tool === 'shell' ? call.shell(`date > ${file}`) : call.write(file, 'no'));
    const { status, reason, asked: requests } = await seat.tell(line);
    expect(status !== 'failed', `the turn failed: ${shown(reason)}`);
    expect(requests.length === 0, `a person was asked about ${tool}`);
    expect(!existsSync(file), `${tool} changed the workspace`);
  }
}

async function free(seat: Seat): Promise<void> {
  const { freeMode: mode } = seat.recipe;
  if (mode === undefined) throw new Skip('it has no mode that writes unasked');
  await setMode(seat, mode);
  const file = inWorkspace(seat, 'free.txt');
  const told = await seat.tell(toLine(seat.recipe.call.write(file, 'written unasked')));
  expectReply(told);
  expect(existsSync(file), `${mode} did not let it write; ${told.asked.length} requests waited`);
  expect(readFileSync(file, 'utf8').trim() === 'written unasked', 'the file holds something else');
  await setMode(seat, 'default');
  expect((await seat.session()).permissionMode === 'default', 'it did not go back to default');
}

/** Looks at what the write before it left in the transcript. */
async function diff(seat: Seat): Promise<void> {
  const calls = (await seat.events()).filter((event) => event.type === 'tool_call');
  const shows = calls.some(({ content }) => JSON.stringify(content ?? null).includes('written unasked'));
  if (!shows) throw new Skip('its edits carry no diff');
}

async function bypass(seat: Seat): Promise<void> {
  const { permissionModes } = await seat.info();
  const refused = await setMode(seat, 'bypass').then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (refused !== undefined) {
    expect(refused.includes('unsupported'), refused);
    throw new Skip(`it has no such mode${permissionModes.includes('bypass') ? ' here' : ''}`);
  }
  const name = 'bypass.txt';
  const told = await seat.tell(toLine(seat.recipe.call.shell(`date > ${name}`, true)));
  expectReply(told);
  expect(existsSync(inWorkspace(seat, name)), `it did not run; ${told.asked.length} requests waited`);
  await setMode(seat, 'default');
}

export const PERMISSIONS = {
  allow: { step: 'allow', shows: 'Asks; runs when allowed', run: allow },
  deny: { step: 'deny', shows: 'Asks; does not run when denied', run: deny },
  readOnly: { step: 'read-only', shows: '`read_only` changes nothing', run: readOnly },
  free: { step: 'free-mode', shows: 'A freer mode edits unasked', run: free },
  diff: { step: 'diff', shows: 'Shows edits as a diff', run: diff },
  bypass: { step: 'bypass', shows: '`bypass` runs commands unasked', run: bypass },
} satisfies Record<string, Step>;
