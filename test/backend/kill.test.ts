import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorld, type World } from '../helpers/world.ts';
import type { Json } from './helpers/json.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 120_000);
afterAll(() => world.stop());

const backendPid = (): number =>
  JSON.parse(readFileSync(join(world.home, 'backend/backend.json'), 'utf8')).pid;

/** The output of an action, asked for again while there is no backend. */
async function ok(actionId: string, input: object): Promise<Json> {
  for (let tries = 0; ; tries++) {
    const args = ['action', 'exec', actionId, '--input', JSON.stringify(input), '--json'];
    const { json, stdout, stderr } = await world.cli(args);
    if (json?.status === 'ok') return json.output;
    if (json?.error?.retryable !== true || tries > 40) throw new Error(`${actionId}: ${stdout}${stderr}`);
  }
}

it('the backend killed three times in the middle of turns: no message, event or session is lost or doubled', async () => {
  const directory = join(world.home, 'work');
  await mkdir(directory);
  const { sessionId } = await ok('session.spawn_new', { agentId: 'demo', directory, title: 'Survivor' });
  const sent: string[] = [];
  for (const round of [1, 2, 3]) {
    const slow = `sleep ${round === 2 ? 1 : 3}`;
    for (const message of [slow, `say round ${round}`]) {
      await ok('session.message.send', { sessionId, message, messageId: `kill-${sent.length}-message` });
      sent.push(message);
    }
    process.kill(backendPid(), 'SIGKILL');
    const resent = { sessionId, message: slow, messageId: `kill-${sent.length - 2}-message`, wait: true };
    expect(await ok('session.message.send', resent)).toMatchObject({ status: 'completed', reply: 'awake' });
  }
  const { idle } = await ok('session.wait.idle', { sessionId, timeoutSeconds: 60 });
  expect(idle).toBe(true);
  const { events, lastSeq } = await ok('session.transcript.get', { sessionId, after: 0, limit: 200 });
  expect(events.map((event: Json) => event.seq)).toEqual(Array.from({ length: lastSeq }, (_, i) => i + 1));
  const told = (type: string) => events.filter((event: Json) => event.type === type);
  expect(told('user_message').map((event: Json) => event.text)).toEqual(sent);
  expect(told('turn_ended').map((event: Json) => event.outcome)).toEqual(sent.map(() => 'completed'));
  expect(told('session_started')).toHaveLength(1);
  const { sessions } = await ok('session.list', {});
  expect(sessions).toMatchObject([{ sessionId, title: 'Survivor', status: 'idle' }]);
}, 120_000);
