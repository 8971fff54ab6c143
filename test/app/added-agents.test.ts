import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorld, type World } from '../helpers/world.ts';

const FAKE = join(import.meta.dirname, '../daemon/fakes/agent.mjs');
const SECRET = 'c4n4ry-1a2b3c4d';

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 90_000);
afterAll(() => world?.stop(), 60_000);

const cli = (...args: string[]) => world.cli(args);
const listed = async () => {
  const { json } = await cli('agents', 'list', '--json');
  return json.output.agents as { agentId: string; state: string; permissionModes: string[] }[];
};

it('an agent that was added is listed and used at once, and its secrets stay where they are', async () => {
  const given = ['--env', `PASSPHRASE=${SECRET}`, '--', process.execPath, FAKE, 'own-modes'];
  expect((await cli('agents', 'add', 'mine', ...given)).code).toBe(0);
  expect((await listed()).find(({ agentId }) => agentId === 'mine')).toMatchObject({
    available: true,
    state: 'ready',
    source: 'added',
    permissionModes: ['default'],
  });
  const table = (await cli('agents', 'list')).stdout;
  expect(table).toMatch(/^mine\s+mine\s+ready/m);
  expect(table).toMatch(/^codex\s+Codex\s+not_installed\s.*npm install/m);

  const spawned = await cli('session', 'spawn-new', 'mine', world.home, '--json');
  expect(spawned).toMatchObject({ code: 0 });
  const { sessionId } = spawned.json.output;
  const sent = await cli('session', 'message', 'send', 'pid', '--session', sessionId, '--wait', '--json');
  expect(sent.json.output).toMatchObject({ status: 'completed', reply: expect.stringMatching(/^\d+$/) });
  expect((await listed()).find(({ agentId }) => agentId === 'mine')?.permissionModes).toEqual([
    'default',
    'plan',
    'read_only',
    'bypass',
  ]);
  for (const args of [
    ['agents', 'list', '--json'],
    ['daemon', 'logs'],
    ['session', 'status', sessionId],
  ])
    expect((await cli(...args)).stdout).not.toContain(SECRET);

  writeFileSync(join(world.home, 'agents.json'), '{"version": 1, "agents": ');
  expect((await listed()).find(({ agentId }) => agentId === 'mine')).toMatchObject({
    available: false,
    reason: expect.stringContaining('line 1, column 26'),
  });
  const gone = await cli('session', 'spawn-new', 'mine', world.home, '--json');
  expect(gone.json.error).toMatchObject({ message: expect.stringContaining('line 1, column 26') });
  expect((await cli('session', 'spawn-new', 'demo', world.home, '--json')).code).toBe(0);
}, 60_000);
