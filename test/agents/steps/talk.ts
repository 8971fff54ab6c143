import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { KAIWU } from '../../helpers/kaiwu.ts';
import { Skip } from '../result.ts';
import type { Seat } from '../seat.ts';
import { expect, expectReply, shown, type Step } from './step.ts';

/** Old words, by which a conversation is known again. */
export const FIRST_WORDS = 'first-words';

async function detect(seat: Seat): Promise<void> {
  const info = await seat.info();
  expect(info.available, `it is not available: ${info.reason}`);
  expect(info.state === 'ready', `its state is ${info.state}: ${info.reason}`);
}

/** Some programs tell their version only when they have been started as an agent. */
async function version(seat: Seat): Promise<void> {
  const { recipe, info } = seat;
  const { version: found } = await info();
  expect(found === recipe.version, `version ${shown(found)} and not ${recipe.version}`);
}

async function message(seat: Seat): Promise<void> {
  expectReply(await seat.tell(`%say ${FIRST_WORDS} are here`), FIRST_WORDS);
}

async function stream(seat: Seat): Promise<void> {
  const told = await seat.tell('%drip 12 60');
  expectReply(told, 'drop11');
  expect(told.deltas.length > 2, `${told.deltas.length} parts of it were streamed`);
  const streamed = told.deltas.join('');
  expect(streamed.includes('drop11'), `what was streamed ends ${shown(streamed.slice(-60))}`);
  const kept = (await seat.events(told.messageId)).filter(({ type }) => type === 'agent_text');
  expect(kept.length < told.deltas.length, `${kept.length} events for ${told.deltas.length} parts`);
}

/** As an editor or an assistant would: over stdio, with the official client. */
async function mcpHost(seat: Seat): Promise<void> {
  const client = new Client({ name: 'suite', version: '1.0.0' });
  const { env } = seat.world;
  const args = [KAIWU, 'mcp', 'serve'];
  try {
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }),
    );
    const { sessionId } = seat;
    const input = { sessionId, message: '%say to a host', wait: true, timeoutSeconds: 40 };
    const { structuredContent } = await client.callTool({ name: 'session_message_send', arguments: input });
    expect(
      JSON.stringify(structuredContent ?? {}).includes('to a host'),
      `it heard ${shown(structuredContent)}`,
    );
  } finally {
    await client.close();
  }
}

async function thoughts(seat: Seat): Promise<void> {
  const told = await seat.tell('%think deep-thoughts first\n%say thought over');
  expectReply(told, 'thought over');
  const events = await seat.events(told.messageId);
  const thought = events.some(
    (event) => event.type === 'agent_thought' && event.text.includes('deep-thoughts'),
  );
  if (!thought) throw new Skip('it does not show the thoughts of its model');
}

async function title(seat: Seat): Promise<void> {
  const { title: found } = await seat.session();
  if (found === undefined) throw new Skip('it names no session by itself');
}

async function failure(seat: Seat): Promise<void> {
  const told = await seat.tell('%fail 400');
  expectReply(await seat.tell('%say after the failure'), 'after the failure');
  if (told.status !== 'failed') throw new Skip(`it tells the error as text and ends the turn ${told.status}`);
  expect((told.reason?.message ?? '') !== '', 'it failed without a reason');
}

async function usage(seat: Seat): Promise<void> {
  const { usage: used } = await seat.session();
  if (used === undefined) throw new Skip('it does not say what a turn used');
  const counts = Object.values(used).filter((value) => typeof value === 'number');
  expect(
    counts.some((count) => count > 0),
    `usage is ${shown(used)}`,
  );
}

export const TALK = {
  detect: { step: 'detect', shows: 'Found and ready', run: detect },
  version: { step: 'version', shows: 'Version known', run: version },
  spawn: {
    step: 'spawn',
    shows: 'Session starts',
    vital: true,
    async run(seat) {
      seat.sessionId = await seat.spawn();
    },
  },
  message: { step: 'message', shows: 'Answers a message', run: message },
  stream: { step: 'stream', shows: 'Streams its answer', run: stream },
  mcpHost: { step: 'mcp-host', shows: 'Answers an MCP host', run: mcpHost },
  thoughts: { step: 'thoughts', shows: "Shows its model's thoughts", run: thoughts },
  title: { step: 'title', shows: 'Names the session', run: title },
  failure: { step: 'failure', shows: "Its model's failure fails the turn", run: failure },
  usage: { step: 'usage', shows: 'Says what a turn used', run: usage },
} satisfies Record<string, Step>;
