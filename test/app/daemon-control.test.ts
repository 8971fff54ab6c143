import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProcessTable } from '../../src/local/process-table.ts';
import { answersWith, type FakeBackend, startFakeBackend } from '../helpers/fake-backend.ts';
import { isAlive } from '../helpers/processes.ts';
import { type Home, makeHome, signIn } from '../helpers/signed-in.ts';

const table = createProcessTable();
let home: Home;
let backend: FakeBackend;
let sleeper: ChildProcess;

beforeEach(async () => {
  home = await makeHome();
  backend = await startFakeBackend(answersWith({ status: 'ok', output: { sessions: [] } }));
  await signIn(home, 'a', backend.url);
  sleeper = spawn('sleep', ['300']);
  await once(sleeper, 'spawn');
});
afterEach(async () => {
  await home.cli(['daemon', 'stop']);
  sleeper.kill();
  await backend.close();
  await home.remove();
});

const sleep = () => ({ pid: sleeper.pid!, startTime: table.startTime(sleeper.pid!)! });
const state = async (fields: object) => {
  await mkdir(home.path('profiles/a'), { recursive: true, mode: 0o700 });
  const whole = {
    port: 1,
    token: 'kw_control',
    version: '0.1.0',
    machineId: 'mach_1',
    url: backend.url,
    ...fields,
  };
  await writeFile(home.path('profiles/a/daemon.json'), JSON.stringify(whole), { mode: 0o600 });
};
const daemon = async (...args: string[]) => (await home.cli(['daemon', ...args, '--json'])).json;

/** A daemon of another version, as its control port shows it: this very process. */
async function otherDaemon(fields: object = {}): Promise<Server> {
  const server = createServer((request, response) => {
    const known = request.headers.authorization === 'Bearer kw_control';
    response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
    response.end(known ? JSON.stringify({ pid: process.pid }) : '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await state({ pid: process.pid, startTime: table.startTime(process.pid), port, ...fields });
  return server;
}

describe('a left-over state file', () => {
  it.each([
    ['names a pid that is somebody else’s now', () => ({ pid: sleep().pid, startTime: 'boot:1' })],
    ['names pid and start of a process that is not ours', () => sleep()],
    ['names a pid of a container', () => ({ pid: 8, startTime: 'boot:1' })],
    ['names a port that another program has', () => ({ ...sleep(), port: backend.port })],
  ])('that %s is stale, and nobody is signalled', async (_, fields) => {
    const innocent = sleep();
    await state(fields());
    expect(await daemon('status')).toMatchObject({ output: { state: 'stale', profile: 'a' } });
    expect(await daemon('stop')).toMatchObject({ status: 'ok', output: { state: 'stopped' } });
    expect(isAlive(innocent)).toBe(true);

    await state(fields());
    const started = await daemon('start');
    expect(started).toMatchObject({ status: 'ok', output: { state: 'running' } });
    expect(started.output.pid).not.toBe(innocent.pid);
    expect(await daemon('status')).toMatchObject({ output: { state: 'running', pid: started.output.pid } });
    expect(isAlive(innocent)).toBe(true);
  });
});

describe('a daemon that runs', () => {
  it('is found by a second start, refuses a second run by name, and stops', async () => {
    const { output: first } = await daemon('start');
    expect(await daemon('start')).toMatchObject({ output: { already: true, pid: first.pid } });
    const second = await home.cli(['daemon', 'run']);
    expect([second.code, second.stderr]).toEqual([6, expect.stringContaining(`process ${first.pid}`)]);
    const seen = { pid: first.pid as number, startTime: table.startTime(first.pid)! };
    expect(await daemon('stop')).toMatchObject({ output: { state: 'stopped' } });
    expect(isAlive(seen)).toBe(false);
    expect((await daemon('status')).output.state).toBe('stopped');
    expect((await daemon('stop')).output.state).toBe('stopped');
  });

  it('is killed when it does not end by itself, and a new one starts', async () => {
    const { output: first } = await daemon('start');
    process.kill(first.pid, 'SIGSTOP');
    expect((await daemon('status')).output.state).toBe('not answering');
    expect((await daemon('start')).error.code).toBe('conflict');
    const { output: second } = await daemon('restart');
    expect(second).toMatchObject({ state: 'running', note: expect.stringContaining('killed') });
    expect(second.pid).not.toBe(first.pid);
  });

  it('leaves a log that can be read', async () => {
    const { output } = await daemon('start');
    const { stdout } = await home.cli(['daemon', 'logs', '--lines', '100']);
    expect(stdout).toContain(`"pid":${output.pid}`);
    expect(stdout).toContain('ready');
  });
});

describe('a daemon that does not fit', () => {
  it('by its version is told with both versions, and is not restarted', async () => {
    const server = await otherDaemon({ version: '0.0.9' });
    const before = await readFile(home.path('profiles/a/daemon.json'), 'utf8');
    for (const command of ['start', 'status']) {
      const { code, stdout } = await home.cli(['daemon', command]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/The daemon is version 0\.0\.9, this command is 0\.1\.0/);
      expect(stdout).toContain('kaiwu daemon restart');
    }
    expect(await readFile(home.path('profiles/a/daemon.json'), 'utf8')).toBe(before);
    server.close();
    await writeFile(
      home.path('profiles/a/daemon.json'),
      before.replace(/"startTime":"[^"]*"/, '"startTime":"gone"'),
    );
  });

  it('by its backend is told when the profile changes, and nothing is mixed', async () => {
    const b = await startFakeBackend(answersWith({ status: 'ok', output: { sessions: [] } }));
    const server = await otherDaemon();
    expect((await home.cli(['server', 'add', 'b', b.url])).code).toBe(0);
    const used = await home.cli(['server', 'use', 'b', '--json']);
    expect(used.json.output.note).toContain(
      `The daemon of profile a (pid ${process.pid}) is still on ${backend.url}.`,
    );

    await signIn(home, 'b', b.url);
    const sent = backend.requests.length;
    expect((await home.cli(['session', 'list', '--json'])).code).toBe(0);
    expect(b.requests.at(-1)!.headers.authorization).toBe('Bearer kw_test_b_0123456789');
    expect(backend.requests.length).toBe(sent);
    expect(JSON.stringify(b.requests)).not.toContain('kw_test_a');
    expect((await home.cli(['daemon', 'status', '--json'])).json.output.state).toBe('stopped');
    server.close();
    await b.close();
    await home.cli(['server', 'use', 'a']);
    await state({ pid: 8, startTime: 'gone' });
  });

  it('a sign-in goes to the address that gave it, and to no other', async () => {
    const b = await startFakeBackend(answersWith({ status: 'ok', output: { sessions: [] } }));
    const config = JSON.parse(await readFile(home.path('config.json'), 'utf8'));
    config.profiles.a.url = b.url;
    await writeFile(home.path('config.json'), JSON.stringify(config));
    const { json, code } = await home.cli(['session', 'list', '--json']);
    expect(code).toBe(4);
    expect(json.error.message).toBe(
      `The sign-in of profile a is for ${backend.url}, but the profile now names ${b.url}.`,
    );
    expect(b.requests).toEqual([]);
    await b.close();
  });
});
