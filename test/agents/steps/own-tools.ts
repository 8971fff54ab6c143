import { toLine } from '../recipe.ts';
import type { Seat, Told } from '../seat.ts';
import { expect, expectReply, heardSince, shown, type Step } from './step.ts';

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

export const OWN_TOOLS = {
  changeTitle: { step: 'own-tool', shows: "Calls Kaiwu's own tool (`change_title`)", run: changeTitle },
  discover: { step: 'discover', shows: 'Finds and runs actions', run: discover },
  noEscalation: { step: 'no-escalation', shows: 'Cannot raise its own mode', run: noEscalation },
} satisfies Record<string, Step>;
