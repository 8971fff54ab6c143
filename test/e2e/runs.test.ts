import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { descendantsOf } from '../helpers/processes.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { connectMcp, type McpHost, type Output } from './helpers/mcp-host.ts';

const open: { close(): Promise<void> }[] = [];
let world: World;
let host: McpHost;
let workspace: string;
let parent: string;

beforeAll(async () => {
  world = await startWorld();
  workspace = join(world.home, 'project');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'notes.txt'), 'hello\n');
  const git = (...args: string[]) => execFileSync('git', ['-C', workspace, ...args], { stdio: 'ignore' });
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '-m', 'one');
  host = await connectMcp(world.env, { onEnd: (client) => void open.push(client) });
  parent = await spawn();
}, 120_000);

afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await world?.stop();
}, 90_000);

const spawn = async (): Promise<string> =>
  (await host.ok('session_spawn_new', { agentId: 'demo', directory: workspace }))['sessionId'];

const TARGET = { kind: 'builtInAgent', agentId: 'demo' };
const PLAN = { summary: 'One step.', steps: [{ title: 'Do it', files: ['notes.txt'] }], risks: [] };
const say = (value: unknown) => `Please.\n@say Here:\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

/** The envelope of a command. */
async function cli(...args: string[]): Promise<Output> {
  const { json, stdout, stderr } = await world.cli([...args, '--json']);
  if (json?.status !== 'ok') throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  return json.output as Output;
}
const run = (runId: string) => cli('execution', 'run', 'get', runId);
const start = (more: Output = {}) =>
  host.ok('execution_run_start', {
    sessionId: parent,
    intent: 'plan',
    backendTarget: TARGET,
    instructions: say(PLAN),
    ...more,
  });

/** Agents that are at work on this machine. */
const agents = () => descendantsOf(world.pid).filter(({ command }) => command.includes('demo-agent'));

/** The session of a run whose agent has been told what to do. */
async function atWork(runId: string): Promise<string> {
  for (let after = 0; ; ) {
    const { events, lastSeq } = await cli('run', 'read', runId, `--after=${after}`);
    if (events.some((event: Output) => event['type'] === 'tool_call' || event['type'] === 'agent_text'))
      return (await run(runId))['runSessionId'];
    after = lastSeq;
  }
}

describe('a run of the demo agent', () => {
  it('is started and waited for by a host, and listed, read and followed from a shell', async () => {
    const before = agents().length;
    expect(before).toBeGreaterThan(0);
    const started = await start({ waitForCompletion: true });
    expect(started).toMatchObject({ status: 'succeeded', result: PLAN });
    const { runId } = started;
    expect(await cli('execution', 'run', 'list')).toMatchObject({ runs: [{ runId, status: 'succeeded' }] });
    const table = await world.cli(['run', 'list']);
    expect(table).toMatchObject({ code: 0, stdout: expect.stringMatching(/run_\w+ +plan +succeeded +demo/) });
    const { runSessionId } = await run(runId);
    const { events } = await cli('run', 'read', runId);
    expect(events[0]).toMatchObject({ type: 'session_started', seq: 1 });
    await expect.poll(() => agents().length, { timeout: 20_000 }).toBe(before);
    const session = await cli('session', 'status', 'get', runSessionId);
    expect(session).toMatchObject({
      status: 'stopped',
      parentSessionId: parent,
      runId,
      permissionMode: 'read_only',
    });
  });

  it('of each intent is one word away in a shell', async () => {
    const target = `--backend-target=${JSON.stringify(TARGET)}`;
    const finding = { file: 'notes.txt', line: 1, severity: 'low', title: 'A greeting' };
    const review = { summary: 'Looked.', findings: [finding] };
    const work = { summary: 'Done.', changedFiles: ['notes.txt'] };
    for (const [words, result] of [
      [['review', 'start'], review],
      [['subagents', 'plan', 'start'], PLAN],
      [['subagents', 'delegate', 'start'], work],
    ] as const) {
      const started = await cli(...words, parent, say(result), target, '--wait-for-completion');
      expect([words, started]).toMatchObject([words, { status: 'succeeded', result }]);
    }
  });

  it('that does not keep to the shape keeps its words', async () => {
    const { runs } = await start({ instructions: '@say I would rather not.', waitForCompletion: true });
    expect(runs[0]).toMatchObject({ status: 'succeeded', resultProblem: expect.stringContaining('JSON') });
  });

  it('does its work in a worktree of its own where that is asked for', async () => {
    const work = { summary: 'Done.', changedFiles: [] };
    const { status, runId } = await start({
      intent: 'delegate',
      worktree: true,
      instructions: say(work),
      waitForCompletion: true,
    });
    expect(status).toBe('succeeded');
    const { worktree, directory } = await cli('session', 'status', 'get', (await run(runId))['runSessionId']);
    expect(directory).toBe(worktree.path);
    expect(directory).not.toBe(workspace);
    expect(readFileSync(join(directory, 'notes.txt'), 'utf8')).toBe('hello\n');
  });

  it('beside one that cannot be had works all the same', async () => {
    const { runs } = await start({
      backendTarget: undefined,
      backendTargets: [TARGET, { kind: 'builtInAgent', agentId: 'nobody' }],
      waitForCompletion: true,
    });
    expect(runs).toMatchObject([
      { status: 'succeeded' },
      { status: 'failed', reason: { code: 'agent_not_available' } },
    ]);
    const wrong = { backendTarget: { kind: 'acpBackend', agentId: 'demo' } };
    const input = { sessionId: parent, intent: 'plan', instructions: 'x', ...wrong };
    expect(await host.error('execution_run_start', input)).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('builtInAgent'),
    });
  });

  it('is stopped by its time limit or by a person, and its agent is gone', async () => {
    const before = agents().length;
    const slow = { instructions: '@sleep 600' };
    const limited = await start({ ...slow, timeoutSeconds: 3, waitForCompletion: true });
    expect(limited).toMatchObject({ status: 'timed_out' });
    const { runId } = await start(slow);
    await atWork(runId);
    expect(await cli('run', 'stop', runId)).toMatchObject({ status: 'cancelled' });
    // Agents of runs before may still have been on their way out.
    await expect.poll(() => agents().length, { timeout: 20_000 }).toBeLessThanOrEqual(before);
  });

  it('asks in the inbox of its parent for what needs a yes', async () => {
    const { runId } = await start({
      intent: 'delegate',
      instructions: '@ask edit the notes',
    });
    const runSessionId = await atWork(runId);
    const items = async () => (await cli('inbox', 'list', '--session-id', parent))['items'] as Output[];
    await expect.poll(async () => (await items()).length, { timeout: 20_000 }).toBe(1);
    const [item] = await items();
    expect(item).toMatchObject({ kind: 'permission', sessionId: runSessionId });
    expect(item?.['lineage'].map((session: Output) => session['sessionId'])).toEqual([parent, runSessionId]);
    await cli('session', 'permission', 'respond', runSessionId, '--decision=allow');
    const { runs } = { runs: [await cli('run', 'wait', runId)] };
    expect(runs[0]).toMatchObject({ status: 'succeeded' });
  });
});

describe('a voice agent', () => {
  it('takes turns and stays until it is stopped', async () => {
    const target = `--backend-target=${JSON.stringify(TARGET)}`;
    const hello = say({ spoken: 'Hello there.' });
    const started = await cli('voice-agent', 'start', parent, hello, target, '--wait-for-completion');
    expect(started).toMatchObject({ status: 'running', result: { spoken: 'Hello there.' } });
    const { runId } = started;
    const turn = await cli('run', 'send', runId, 'say All is **green**.', '--wait');
    expect(turn).toMatchObject({ status: 'running', reply: 'All is green.' });
    expect(await cli('run', 'stop', runId)).toMatchObject({ status: 'cancelled' });
  });
});

describe('kill -9', () => {
  const pidOf = (name: string): number =>
    JSON.parse(readFileSync(join(world.home, name), 'utf8')).pid as number;

  /** Asked for again while a part of Kaiwu is on its way back. */
  async function again(...args: string[]): Promise<Output> {
    for (;;) {
      const { json, stderr } = await world.cli([...args, '--json']);
      if (json?.status === 'ok') return json.output as Output;
      if (json?.error?.retryable !== true) throw new Error(`${JSON.stringify(json)} ${stderr}`);
    }
  }

  it('of the backend: the run goes on and is done once', async () => {
    const { runId } = await start({ instructions: '@sleep 4' });
    const runSessionId = await atWork(runId);
    process.kill(pidOf('backend/backend.json'), 'SIGKILL');
    const ended = await again('run', 'wait', runId);
    expect(ended).toMatchObject({ status: 'succeeded', rawText: expect.any(String) });
    const { events } = await again('session', 'transcript', 'get', runSessionId, '--after=0', '--limit=200');
    const turns = events.filter((event: Output) => event['type'] === 'turn_ended');
    // The work, and the one question for its shape.
    expect(turns.map((event: Output) => event['outcome'])).toEqual(['completed', 'completed']);
  }, 90_000);

  it('of the daemon: the run fails with the reason, and goes on with a message', async () => {
    const { runId } = await again(
      'run',
      'start',
      parent,
      'plan',
      '@sleep 600',
      `--backend-target=${JSON.stringify(TARGET)}`,
    );
    await atWork(runId);
    const file = 'profiles/local/daemon.json';
    expect(existsSync(join(world.home, file))).toBe(true);
    process.kill(pidOf(file), 'SIGKILL');
    const failed = await again('run', 'wait', runId);
    expect(failed).toMatchObject({
      status: 'failed',
      reason: { message: expect.stringContaining('restarted') },
    });
    const sent = await again('run', 'send', runId, say(PLAN), '--wait');
    expect(sent).toMatchObject({ status: 'succeeded', result: PLAN });
  }, 90_000);
});
