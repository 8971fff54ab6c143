import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Approval, isSettled } from '../../../src/core/approval.ts';
import { descendantsOf, isAlive, type Seen, waitGone } from '../../helpers/processes.ts';
import { startWorld, type World } from '../../helpers/world.ts';
import { createPatientClient, type PatientClient, readAll } from './torture-client.ts';
import type { Decided } from './torture-decider.ts';
import { countRuns, type Effects, messageEffects, tokenEffects } from './torture-effects.ts';
import { type Filed, judge, type Verdict } from './torture-verdict.ts';

const DECIDERS = 8;
const REQUESTERS = 4;

export interface TortureResult extends Verdict {
  approvals: number;
  kills: number;
  /** How many ended in each state. */
  states: Record<string, number>;
  /** What else is not as it should be. */
  faults: string[];
  seconds: number;
}

/** Files requests and has processes decide them at random, while backend and daemon are killed; then compares with the truth. */
export async function runTorture(options: {
  approvals: number;
  kills: number;
  say(line: string): void;
}): Promise<TortureResult> {
  const { approvals, kills, say } = options;
  const startedAt = performance.now();
  const world = await startWorld();
  const deciders: ChildProcess[] = [];
  try {
    const client = createPatientClient(world.home);
    await client.output('policy.set', {
      rules: { 'session.message.send': { mcp: { approval: true } } },
      settings: { maxPendingApprovals: 1000 },
    });
    const directory = join(world.home, 'project');
    mkdirSync(directory);
    const kinds = { token: tokenEffects(client), message: await messageEffects(client, directory) };
    const effectsOf = (i: number): Effects => (i % 20 === 19 ? kinds.message : kinds.token);

    const decided: Decided[] = [];
    const filed: Filed[] = [];
    const strays: Seen[] = [];
    deciders.push(...Array.from({ length: DECIDERS }, () => forkDecider(world.home)));
    const ends = Promise.all(deciders.map((child) => endOf(child, (done) => decided.push(done))));
    // Told below; an error that comes first ends the deciders too.
    ends.catch(() => undefined);
    const counts = () => ({ settled: new Set(decided.map(({ artifactId }) => artifactId)).size });

    let killed = 0;
    const over = new AbortController();
    const killing = killAtRandom({
      world,
      strays,
      // All moments lie before the last decision.
      moments: Array.from({ length: kills }, () => Math.random() * 0.8 * approvals),
      progress: () => counts().settled,
      signal: over.signal,
      onKill: (name) => say(`killed the ${name} (${++killed} of ${kills})`),
    });
    const reporting = setInterval(() => {
      say(`${filed.length} filed, ${counts().settled} decided, ${killed} kills`);
    }, 5000);
    try {
      const filing = Promise.all(
        Array.from({ length: REQUESTERS }, async (_, first) => {
          for (let i = first; i < approvals; i += REQUESTERS) {
            filed.push(await file(client, `n${i}`, effectsOf(i)));
          }
        }),
      );
      await Promise.race([filing, ends]);
      for (const child of deciders) child.send('last');
      await Promise.all([ends, killing]);
    } finally {
      clearInterval(reporting);
      over.abort();
    }
    await decideTheRest(client);

    say('all decided; comparing with what is there');
    const all = await readAll<Approval>(client, 'approval.request.list', 'approvals');
    const effects = new Map([...(await kinds.token.count()), ...(await kinds.message.count())]);
    const runs = await countRuns(client, ['token.create', 'session.message.send']);
    const verdict = judge({ filed, decided, approvals: all, effects, runs });
    const faults = all
      .filter(({ status }) => !isSettled(status))
      .map((one) => `${one.summary}: ${one.status}`);
    const { intact, fault } = await client.output('audit.verify');
    if (!intact) faults.push(`the audit log is not intact: ${JSON.stringify(fault)}`);
    if (killed < kills) faults.push(`only ${killed} of ${kills} kills`);
    const left = await waitGone(strays, 10_000);
    for (const { pid, command } of left) faults.push(`process ${pid} is left: ${command}`);
    const states: Record<string, number> = {};
    for (const { status } of all) states[status] = (states[status] ?? 0) + 1;
    const seconds = (performance.now() - startedAt) / 1000;
    return { ...verdict, approvals: filed.length, kills: killed, states, faults, seconds };
  } finally {
    for (const child of deciders) child.kill('SIGKILL');
    await world.stop();
  }
}

const forkDecider = (home: string): ChildProcess =>
  fork(join(import.meta.dirname, 'torture-decider.ts'), [home], { execArgv: ['--import', 'tsx'] });

async function endOf(child: ChildProcess, onDecided: (decided: Decided) => void): Promise<void> {
  child.on('message', onDecided);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`a decider ended with ${code}`);
}

/** Asks as a host does, now and then twice at once; one in twenty is taken back. */
async function file(client: PatientClient, name: string, { toCall }: Effects): Promise<Filed> {
  const { actionId, input } = toCall(name);
  const ask = (key: string) => client.call(actionId, input, { surface: 'mcp', key });
  const key = randomUUID();
  const [envelope, ...twins] = await Promise.all(Math.random() < 0.1 ? [ask(key), ask(key)] : [ask(key)]);
  if (envelope?.status !== 'approval_required') throw new Error(`${name}: ${JSON.stringify(envelope)}`);
  const { artifactId } = envelope.approval;
  for (const twin of twins) {
    if (twin.status !== 'approval_required' || twin.approval.artifactId !== artifactId) {
      throw new Error(`${name}: the same key was answered ${JSON.stringify([envelope, twin])}`);
    }
  }
  if (Math.random() > 0.05) return { name, artifactId };
  const taken = await client.call(
    'approval.request.cancel',
    { artifactId },
    { surface: 'mcp', key: randomUUID() },
  );
  return { name, artifactId, withdrawn: taken.status === 'ok' };
}

async function decideTheRest(client: PatientClient): Promise<void> {
  for (const { artifactId } of await readAll<Approval>(client, 'approval.request.list', 'approvals', {
    status: 'pending',
  })) {
    await client.output('approval.request.decide', { artifactId, decision: 'deny' });
  }
}

const STATE_FILES = { backend: 'backend/backend.json', daemon: 'profiles/local/daemon.json' };

/** kill -9 of backend or daemon, whichever runs, whenever the work has come to one of the moments. */
async function killAtRandom(options: {
  world: World;
  moments: number[];
  strays: Seen[];
  progress(): number;
  signal: AbortSignal;
  onKill(name: string): void;
}): Promise<void> {
  const { world, moments, strays, progress, signal, onKill } = options;
  const running = () =>
    Object.entries(STATE_FILES)
      .map(([name, file]) => ({ name, process: readRunning(join(world.home, file)) }))
      .filter(({ process }) => process !== undefined)
      .sort(() => Math.random() - 0.5);
  for (const moment of moments.sort((a, b) => a - b)) {
    await until(() => progress() >= moment, signal);
    await sleep(Math.random() * 200);
    const target = await until(() => running()[0], signal);
    if (target?.process === undefined) return;
    strays.push(target.process, ...descendantsOf(target.process.pid));
    process.kill(target.process.pid, 'SIGKILL');
    onKill(target.name);
  }
}

/** The process of a state file, if it runs: until its successor has written its own, the file names a dead one. */
function readRunning(path: string): Seen | undefined {
  try {
    const state = JSON.parse(readFileSync(path, 'utf8')) as Seen;
    return isAlive(state) ? { ...state, command: path } : undefined;
  } catch {
    return undefined;
  }
}

/** Looks again and again until there is something, or the work is over. */
async function until<T>(look: () => T | undefined | false, signal: AbortSignal): Promise<T | undefined> {
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (signal.aborted) return undefined;
    await sleep(5);
  }
}
