import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { groupIsGone, groupMembers } from '../daemon/helpers/processes.ts';
import { createRuntimeWorld, hasFailed, isReady, lives, namesOf, textOf } from './runtime-world.ts';

const startsOf = (journal: { start?: number }[]) => journal.filter(({ start }) => start !== undefined).length;

const HOST = join(import.meta.dirname, 'fakes/host.ts');

/** Shorter than what would tell anything. */
const CANARY = 'cnry7f3a91be55d0';

test('secrets are in no state, error or log, not even their first characters', async () => {
  const world = createRuntimeWorld();
  const env = { API_KEY: CANARY };
  const args = (fake: { config: { args?: string[] } }) => [
    ...(fake.config.args ?? []),
    '--token',
    `${CANARY}arg`,
    `postgres://me:${CANARY}url@db/x`,
  ];
  const of = (key: string, how: object) => {
    const fake = world.fake(key, how, {
      env,
      token: `${CANARY}tok`,
      headers: { 'X-Api-Key': `${CANARY}head` },
    });
    return { ...fake, config: { ...fake.config, args: args(fake) } };
  };
  world.runtime.apply([
    of('says', {
      stderr: 'key=$API_KEY\nBearer $API_KEY\nthe key cnry7f3a9… was refused\n',
      says: `no: ${CANARY}`,
    }),
    of('refuses', { initialize: 'secret', stderr: `${'x'.repeat(70_000)}$API_KEY\n` }),
    of('dies', { exit: 1, stderr: 'no such user: $API_KEY' }),
    { ...of('absent', {}), config: { ...of('absent', {}).config, command: 'no-such-program' } },
  ]);
  await world.until('says', isReady);
  const told: unknown[] = [];
  for (let i = 0; i < 4; i += 1)
    told.push(await world.call('says', 'refuse').catch((error: Error) => `${error.message} ${error.stack}`));
  await Promise.all(['refuses', 'dies', 'absent'].map((key) => world.until(key, hasFailed)));
  for (const key of ['refuses', 'dies', 'absent'])
    told.push(await world.call(key, 'echo').catch((error: Error) => error.message));
  const all = JSON.stringify([told, world.told, world.runtime.states()]) + world.logged();
  expect(all).toContain('[redacted]');
  expect(all).toContain('exit code 1: no such user');
  expect(all).not.toContain(CANARY.slice(0, 8));
});

test('one that ends at once is started ever less often, at most six times in a minute', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('dead', { exit: 1 })]);
  const gaps: number[] = [];
  for (let i = 0; i < 3; i += 1) {
    const { nextTryAt } = await world.until('dead', (state) => state.nextTryAt !== undefined);
    gaps.push(Date.parse(nextTryAt!) - Date.now());
    const count = startsOf(world.journal('dead'));
    await expect.poll(() => startsOf(world.journal('dead')), { timeout: 20_000 }).toBeGreaterThan(count);
  }
  expect(gaps[1]!).toBeGreaterThan(gaps[0]!);
  expect(gaps[2]!).toBeGreaterThan(gaps[1]!);
  // A hundred callers who will not wait start it no more often.
  const calls = Array.from({ length: 100 }, () =>
    world.call('dead', 'echo').catch((error: unknown) => error),
  );
  for (const error of await Promise.all(calls))
    expect(error).toMatchObject({ code: 'mcp_server_unavailable' });
  expect(startsOf(world.journal('dead'))).toBeLessThanOrEqual(6);
  expect(world.state('dead').starts).toBeLessThanOrEqual(6);
});

test('one that comes up at last is used', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('late', { exit: 1, exitTimes: 2 })]);
  await world.until('late', hasFailed);
  await world.until('late', isReady);
  expect(textOf(await world.call('late', 'echo'))).toBe('echo');
});

test('a server that is tested ten times leaves nothing', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('one')]);
  await world.until('one', isReady);
  for (let i = 0; i < 10; i += 1) await world.runtime.test('one', new AbortController().signal);
  const pids = world.journal('one').flatMap(({ start }) => start ?? []);
  expect(pids).toHaveLength(11);
  await world.runtime.close();
  expect(pids.filter(lives)).toEqual([]);
});

test('a thousand stray messages of every kind harm nothing', async () => {
  const world = createRuntimeWorld();
  const odd = [
    'null',
    '[]',
    '{}',
    '{"jsonrpc":"2.0","id":"call-1"}',
    '{"jsonrpc":"2.0","id":{},"result":1}',
    '{"jsonrpc":"2.0","method":7}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}',
    '{"jsonrpc":"2.0","id":1,"error":"x"}',
    '\u0000\u0001',
    '[{"jsonrpc":"2.0"},3]',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1}}',
    '{"__proto__":{"x":1},"jsonrpc":"2.0"}',
  ];
  const nest = '['.repeat(5000) + ']'.repeat(5000);
  const deep = `{"jsonrpc":"2.0","id":7,"method":"ping","params":${nest}}\n{"jsonrpc":"2.0","method":"notifications/message","params":${nest}}\n`;
  world.runtime.apply([
    world.fake('odd', { banner: `${deep}${Array.from({ length: 80 }, () => odd.join('\n')).join('\n')}\n` }),
  ]);
  await world.until('odd', isReady);
  expect(textOf(await world.call('odd', 'echo'))).toBe('echo');
  expect(({} as { x?: number }).x).toBeUndefined();
});

test.each([300, 2000, 4000, 200_000])('an answer that is nested %i times harms nothing', async (depth) => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('deep')]);
  await world.until('deep', isReady);
  for (const where of ['result', 'error', 'whole']) {
    const error = await world.call('deep', 'deep', { where, depth }).catch((error: unknown) => error);
    expect([where, (error as { code?: string }).code]).toEqual([where, 'tool_failed']);
  }
  expect(textOf(await world.call('deep', 'echo'))).toBe('echo');
});

test.each([300, 1000, 3000, 200_000])('a tool that is nested %i times harms nothing', async (depth) => {
  const world = createRuntimeWorld();
  const nested = { name: 'nested', nest: depth };
  world.runtime.apply([world.fake('deep', { tools: ['echo', nested] })]);
  const { tools, warnings } = await world.until('deep', isReady);
  expect(namesOf(tools)).toEqual(['echo']);
  expect(warnings.join()).toContain('nested');
});

test('messages without end are ended, and others are served meanwhile', async () => {
  // On a clock that stands still they come fast enough on any machine.
  const still = new Date();
  const world = createRuntimeWorld({}, () => still);
  world.runtime.apply([world.fake('spam'), world.fake('other')]);
  await Promise.all([world.until('spam', isReady), world.until('other', isReady)]);
  const spam = world.call('spam', 'spam').catch((error: unknown) => error);
  expect(textOf(await world.call('other', 'echo'))).toBe('echo');
  expect(await spam).toMatchObject({ code: 'tool_failed' });
  expect((await world.until('spam', hasFailed)).reason).toMatch(/^command: it sent more than 200000 lines/);
});

test('a killed process leaves no server behind', async () => {
  const world = createRuntimeWorld();
  const fake = world.fake('orphan', { deaf: true, child: true });
  const host = spawn(process.execPath, ['--import', 'tsx', HOST, JSON.stringify(fake)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => host.stdout.once('data', resolve));
  const journal = world.journal('orphan');
  const pid = journal.find(({ start }) => start !== undefined)!.start!;
  expect(groupMembers(pid)).toEqual(
    expect.arrayContaining([pid, journal.find(({ child }) => child)!.child!]),
  );
  host.kill('SIGKILL');
  await groupIsGone(pid);
  expect(groupMembers(pid)).toEqual([]);
});
