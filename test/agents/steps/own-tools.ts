import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toLine } from '../recipe.ts';
import type { Seat, Told } from '../seat.ts';
import { expect, expectReply, heardSince, inWorkspace, shown, type Step } from './step.ts';

/** The agent's model calls a tool of Kaiwu's own server. */
async function call(seat: Seat, name: string, args: object): Promise<{ told: Told; heard: string }> {
  const from = seat.model.seen.length;
  const told = await seat.tell(toLine(seat.recipe.call.kaiwu(name, args)), { answer: 'allow' });
  expectReply(told);
  return { told, heard: heardSince(seat, from) };
}

async function changeTitle(seat: Seat): Promise<void> {
  const title = 'Named by its own agent';
  const { told } = await call(seat, 'change_title', { title });
  const session = await seat.session();
  expect(session.title === title, `the title is ${shown(session.title)}; the reply was ${shown(told.reply)}`);
}

async function discover(seat: Seat): Promise<void> {
  const found = await call(seat, 'action_spec_search', { query: 'status of a session' });
  expect(found.heard.includes('session.status.get'), `the search answered ${shown(found.told.reply)}`);
  const { sessionId } = seat;
  const done = await call(seat, 'action_execute', { actionId: 'session.status.get', input: { sessionId } });
  expect(done.heard.includes(seat.workspace), `the action answered ${shown(done.told.reply)}`);
}

async function noEscalation(seat: Seat): Promise<void> {
  const { sessionId } = seat;
  const input = { sessionId, permissionMode: 'bypass' };
  const { heard } = await call(seat, 'action_execute', { actionId: 'session.permission_mode.set', input });
  const refused = /permission_escalation_denied|action_disabled|forbidden/.test(heard);
  expect(refused, `it was answered ${shown(heard.slice(-300))}`);
  const { permissionMode } = await seat.session();
  expect(permissionMode === 'default', `it raised its own mode to ${permissionMode}`);
}

/** Nobody is asked, the file arrives and can be decrypted, and its name stands nowhere in the clear. */
async function sendFile(seat: Seat): Promise<void> {
  const name = 'for-the-person.bin';
  const content = randomBytes(100_000);
  writeFileSync(inWorkspace(seat, name), content);
  const line = toLine(seat.recipe.call.kaiwu('send_file_to_user', { path: name, message: 'Here it is' }));
  const told = await seat.tell(line);
  expectReply(told);
  expect(told.asked.length === 0, `a person was asked: ${shown(told.asked)}`);
  const events = (await seat.events(told.messageId)).filter(({ type }) => type !== 'user_message');
  const cards = events.flatMap((event) =>
    event.type === 'tool_call' ? [(event.content as { display?: unknown } | undefined)?.display] : [],
  );
  const { fileId } = (cards.find((card) => card !== undefined) ?? {}) as { fileId?: string };
  expect(fileId !== undefined, `no file in the transcript: ${shown(events)}`);
  const calls = events.filter(({ type }) => type === 'tool_call' || type === 'permission_resolved');
  expect(!JSON.stringify(calls).includes(name), `its own report names the file: ${shown(calls)}`);

  const path = join(seat.world.home, name);
  const { json } = await seat.world.cli(['file', 'get', fileId!, '--output', path, '--json']);
  expect(json?.output?.fileName === name, `file get answered ${shown(json)}`);
  expect(readFileSync(path).equals(content), 'what arrived is another content');
}

export const OWN_TOOLS = {
  changeTitle: { step: 'own-tool', shows: "Calls Kaiwu's own tool (`change_title`)", run: changeTitle },
  sendFile: { step: 'send-file', shows: 'Sends a file (`send_file_to_user`), asking nobody', run: sendFile },
  discover: { step: 'discover', shows: 'Finds and runs actions', run: discover },
  noEscalation: { step: 'no-escalation', shows: 'Cannot raise its own mode', run: noEscalation },
} satisfies Record<string, Step>;
