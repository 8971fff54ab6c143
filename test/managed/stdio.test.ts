import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { groupIsGone } from '../daemon/helpers/processes.ts';
import { createRuntimeWorld, hasFailed, isReady, lives, textOf } from './runtime-world.ts';

test('a server gets its own variables beside PATH and HOME, and none of ours', async () => {
  const world = createRuntimeWorld({ KAIWU_TOKEN: 'ours', OTHER_SECRET: 'mine', LANG: 'C' });
  world.runtime.apply([world.fake('env', {}, { env: { X: '1', LANG: 'de' } })]);
  const names = ['X', 'PATH', 'HOME', 'LANG', 'KAIWU_TOKEN', 'OTHER_SECRET'];
  const env = JSON.parse(textOf(await world.call('env', 'env', { names }))) as Record<string, string>;
  expect(env).toEqual({ X: '1', PATH: process.env.PATH, HOME: world.folder, LANG: 'de' });
});

test('a server is marked, so that what an agent has it do is done by no person', async () => {
  const world = createRuntimeWorld({ KAIWU_AGENT_SESSION: 'sess_outer' });
  world.runtime.apply([world.fake('env', {}, { env: { KAIWU_AGENT_SESSION: '' } })]);
  const names = ['KAIWU_AGENT_SESSION'];
  const env = JSON.parse(textOf(await world.call('env', 'env', { names }))) as Record<string, string>;
  expect(env).toEqual({ KAIWU_AGENT_SESSION: 'mcp:env' });
});

test('a program that is not there is named, with the PATH searched and the fix', async () => {
  const world = createRuntimeWorld({ PATH: '/usr/bin:/bin', HOME: undefined });
  const program = (key: string, config: object) => ({ key, config: { name: key, ...config } });
  world.runtime.apply([
    program('absent', { command: 'npx-of-nowhere' }),
    program('place', { command: '/nowhere/server' }),
    program('folder', { command: 'true', cwd: '/nowhere' }),
  ]);
  expect((await world.until('absent', hasFailed)).reason).toBe(
    'command: there is no program "npx-of-nowhere" on the PATH (searched /usr/bin, /bin).',
  );
  expect((await world.until('place', hasFailed)).reason).toBe('command: there is no file /nowhere/server.');
  expect((await world.until('folder', hasFailed)).reason).toBe(
    'command: there is no folder /nowhere to start in.',
  );
  const failed = world.call('absent', 'echo');
  await expect(failed).rejects.toMatchObject({ code: 'mcp_server_unavailable' });
  await expect(failed).rejects.toThrow(
    /absent cannot be used: command: there is no program "npx-of-nowhere"/,
  );
  await expect(failed).rejects.toMatchObject({ hint: expect.stringMatching(/full path/) as string });
});

test('a program is found on the PATH of its own settings, and beside its folder', async () => {
  const world = createRuntimeWorld();
  const bin = join(world.folder, 'bin');
  mkdirSync(bin);
  const fake = world.fake('mine');
  writeFileSync(join(bin, 'my-server'), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  const of = (key: string, config: object) => ({ key, config: { ...fake.config, name: key, ...config } });
  world.runtime.apply([
    of('path', { command: 'my-server', env: { PATH: `${bin}:${process.env.PATH}` } }),
    of('beside', { command: './bin/my-server', cwd: world.folder }),
    of('home', { command: '~/bin/my-server' }),
  ]);
  const states = await Promise.all(['path', 'beside', 'home'].map((key) => world.until(key, isReady)));
  expect(states.map(({ starts }) => starts)).toEqual([1, 1, 1]);
});

test('one that ends at once fails within moments, with its exit code and the end of its stderr', async () => {
  const world = createRuntimeWorld();
  const begun = performance.now();
  world.runtime.apply([world.fake('dead', { exit: 4, stderr: 'starting\nError: no database\n' })]);
  const state = await world.until('dead', hasFailed);
  expect(performance.now() - begun).toBeLessThan(5000);
  expect(state.reason).toMatch(/exit code 4: Error: no database/);
  expect(state.stderrTail).toBe('starting\nError: no database');
  expect(state.nextTryAt).toBeDefined();
});

test('one that never answers fails at its own start limit, and one that is slow is waited for, side by side', async () => {
  const world = createRuntimeWorld();
  const begun = performance.now();
  world.runtime.apply([
    world.fake(
      'mute',
      { atProbe: 'silent', initialize: 'never', stderr: 'waiting for the network\n' },
      { startTimeoutSeconds: 2 },
    ),
    ...['a', 'b', 'c'].map((key) => world.fake(key, { readyMs: 1500 })),
    world.fake('good'),
  ]);
  await world.until('good', isReady);
  expect(world.state('a').status).toBe('starting');
  const mute = await world.until('mute', hasFailed);
  expect(mute.reason).toMatch(/^command: it did not answer the handshake within 2 s/);
  expect(mute.stderrTail).toBe('waiting for the network');
  await Promise.all(['a', 'b', 'c'].map((key) => world.until(key, isReady)));
  expect(performance.now() - begun).toBeLessThan(4500);
});

test('20,000 lines of stderr block nothing and are kept in part', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('chatty', { stderrLines: 20_000 })]);
  await world.until('chatty', isReady);
  expect(textOf(await world.call('chatty', 'echo'))).toBe('echo');
  await expect.poll(() => world.state('chatty').stderrTail).toMatch(/number 19999$/);
  expect(Buffer.byteLength(world.state('chatty').stderrTail ?? '')).toBeLessThanOrEqual(16 * 1024);
});

test('banners, title sequences and other noise on stdout are skipped and counted', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([
    world.fake('noisy', { banner: 'Loaded cached credentials.\n{"not":"rpc"}\n\u001b]0;title\u0007' }),
  ]);
  await world.until('noisy', isReady);
  expect(world.state('noisy').noiseLines).toBe(3);
  expect(textOf(await world.call('noisy', 'stray'))).toBe('for you');
  expect(textOf(await world.call('noisy', 'echo', { text: 'still right' }))).toBe('still right');
});

test('a reply that comes byte by byte is whole', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('slow')]);
  const text = '— 漢 🧑‍🚀 é';
  expect(textOf(await world.call('slow', 'bytes', { text }))).toBe(text);
});

test('a result that is too large is refused, in one line or beyond what is read, and the next call works', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('big')]);
  const fine = await world.call('big', 'big', { bytes: 3 * 1024 * 1024 });
  expect(textOf(fine)).toHaveLength(3 * 1024 * 1024);
  for (const mebibytes of [5, 20]) {
    await expect(world.call('big', 'big', { bytes: mebibytes * 1024 * 1024 })).rejects.toMatchObject({
      code: 'payload_too_large',
    });
  }
  expect(textOf(await world.call('big', 'echo'))).toBe('echo');
  expect(world.state('big').starts).toBe(1);
});

test('64 MiB without a line break end that server, within bounds of memory, and others go on', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('flood'), world.fake('other')]);
  await Promise.all([world.until('flood', isReady), world.until('other', isReady)]);
  const before = process.memoryUsage().rss;
  await expect(world.call('flood', 'flood', { mebibytes: 80 })).rejects.toMatchObject({
    code: 'tool_failed',
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  expect((await world.until('flood', hasFailed)).reason).toBe(
    'command: it sent 64 MiB without a line break.',
  );
  expect(textOf(await world.call('other', 'echo'))).toBe('echo');
});

test('one that does not read its input is given up, not fed for ever', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('closed', { notReading: true }, { startTimeoutSeconds: 1 })]);
  expect((await world.until('closed', hasFailed)).reason).toMatch(/within 1 s/);
});

test('one that closes its output and lives on is given up', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('mute', { deaf: true })]);
  await expect(world.call('mute', 'mute')).rejects.toThrow(/closed its output/);
});

test('input ends first, then come the signals; behind a shell nothing is left, not even what ignores them', async () => {
  const world = createRuntimeWorld();
  const fake = world.fake('wrapped', { deaf: true, child: true });
  const [script, how] = fake.config.args ?? [];
  const shell = `'${process.execPath}' '${script}' '${how}'; echo done >&2`;
  world.runtime.apply([{ ...fake, config: { ...fake.config, command: 'sh', args: ['-c', shell] } }]);
  await world.until('wrapped', isReady);
  const journal = world.journal('wrapped');
  const child = journal.find((entry) => entry.child !== undefined)!.child!;
  expect(lives(child)).toBe(true);
  await world.runtime.close();
  await world.runtime.close();
  expect(lives(child)).toBe(false);
  expect(lives(journal.find(({ start }) => start !== undefined)!.start!)).toBe(false);
  const ends = world.journal('wrapped').filter(({ end, signal }) => end ?? signal);
  expect(ends).toEqual([{ end: true }, { signal: 'SIGTERM' }]);
});

test('a server that is taken out, switched off or changed leaves nothing; one that stays is not disturbed', async () => {
  const world = createRuntimeWorld();
  const [out, off, changed, same] = ['out', 'off', 'changed', 'same'].map((key) =>
    world.fake(key, { child: true }),
  );
  world.runtime.apply([out!, off!, changed!, same!]);
  await Promise.all(['out', 'off', 'changed', 'same'].map((key) => world.until(key, isReady)));
  const pidOf = (key: string) => world.journal(key).findLast(({ start }) => start !== undefined)!.start!;
  const pids = ['out', 'off', 'changed', 'same'].map(pidOf);
  world.runtime.apply([
    { ...off!, config: { ...off!.config, enabled: false } },
    { ...changed!, config: { ...changed!.config, env: { X: '2' } } },
    { ...same!, config: { ...same!.config, exclude_tools: ['big'], timeoutSeconds: 3 } },
  ]);
  await world.until('changed', ({ status, starts }) => status === 'ready' && starts === 1);
  await Promise.all(pids.slice(0, 3).map((pid) => groupIsGone(pid)));
  expect(pidOf('same')).toBe(pids[3]);
  expect(lives(pids[3]!)).toBe(true);
  expect(world.runtime.states().map(({ key, status }) => [key, status])).toEqual([
    ['same', 'ready'],
    ['off', 'disabled'],
    ['changed', 'ready'],
  ]);
  await expect(world.call('out', 'echo')).rejects.toMatchObject({ code: 'mcp_server_not_found' });
  await expect(world.call('off', 'echo')).rejects.toThrow(/switched off/);
});
