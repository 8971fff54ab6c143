/**
 * A second process for the tests: `child.ts JOB DATABASE LOCATION [NAME]`. It prints one word a line when something
 * has happened, and goes on when a line comes in on stdin.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { APPROVAL_MOVES } from '../../../src/core/approval.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { APPROVALS, MAX_PENDING } from './amounts.ts';
import { createTestRuntime, DATABASES } from './databases.ts';
import { agentText, newApproval, newAuditRow, toEvents } from './make.ts';

const [job, databaseName, location = '', name = ''] = process.argv.slice(2);
const say = (word: string): void => {
  process.stdout.write(`${word}\n`);
};
const input = createInterface({ input: process.stdin });
// No test leaves a process behind: the end of stdin ends this one.
input.on('close', () => process.exit());
const go = (): Promise<unknown> => once(input, 'line');

const openStore = async () => {
  const database = DATABASES.find((candidate) => candidate.name === databaseName);
  if (database === undefined) throw new Error(`no database ${databaseName}`);
  return database.open(location, createTestRuntime());
};

const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(Math.random() * of.length)];

const shuffled = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => ({ id: `a-${i}`, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ id }) => id);

const JOBS: Record<string, () => Promise<void>> = {
  /** Tries to approve a-0 to a-49 in rising order and says which of them it won. */
  approve: async () => {
    const store = await openStore();
    say('ready');
    await go();
    for (let i = 0; i < 50; i++) {
      if (await store.approvals.move(`a-${i}`, 'pending', 'approved', { decidedBy: name })) say(`a-${i}`);
    }
    say('done');
  },
  /** Makes moves at random until nothing more can happen; says each one that it made. */
  move: async () => {
    const { approvals } = await openStore();
    say('ready');
    await go();
    for (let open = true; open; ) {
      open = false;
      for (const artifactId of shuffled(APPROVALS)) {
        const status = (await approvals.get(artifactId))?.status ?? 'pending';
        const to = pick(APPROVAL_MOVES[status]);
        if (to === undefined) continue;
        open = true;
        // What another process executes is only given up, and not often.
        const lease = to === 'unknown' ? undefined : name;
        if (lease === undefined && Math.random() > 0.2) continue;
        const moved = await approvals.move(artifactId, status, to, {}, lease);
        if (moved) say(`${artifactId} ${status} ${to}`);
        await setImmediate();
      }
    }
    say('done');
  },
  /** Files requests of a few kinds, and now and then denies one; says what became of each. */
  file: async () => {
    const { approvals } = await openStore();
    const runtime = createTestRuntime();
    say('ready');
    await go();
    for (let i = 0; i < 40; i++) {
      const tokenId = `tok_${Math.floor(Math.random() * 2)}`;
      const request = newApproval(`${name}-${i}`, runtime, {
        inputDigest: `kind ${Math.floor(Math.random() * 6)}`,
        requester: { surface: 'mcp', client: name, tokenId },
      });
      const now = runtime.now().toISOString();
      const { approval } = await approvals.insertOrFold(request, MAX_PENDING, now);
      say(approval?.artifactId ?? 'refused');
      if (approval !== undefined && Math.random() < 0.3) {
        await approvals.move(approval.artifactId, 'pending', 'denied');
      }
      await setImmediate();
    }
    say('done');
  },
  /** Uses a grant again and again. */
  use: async () => {
    const { grants } = await openStore();
    say('ready');
    await go();
    for (let i = 0; i < 20; i++) {
      say((await grants.use('grant_1', createTestRuntime().now().toISOString())) ? 'used' : 'refused');
    }
    say('done');
  },
  /** Appends audit rows until it is killed; says how many. */
  audit: async () => {
    const { audit } = await openStore();
    for (let i = 1; ; i++) {
      await audit.append(newAuditRow(createTestRuntime(), { client: name, input: { i } }));
      say(String(i));
      await setImmediate();
    }
  },
  /** Verifies the audit, and says what it found. */
  verify: async () => {
    const { audit } = await openStore();
    say(JSON.stringify(await audit.verify()));
  },
  /** Appends batch after batch until it is killed; says the last acknowledged number each time. */
  append: async () => {
    const store = await openStore();
    const runtime = createTestRuntime();
    const bodies = Array.from({ length: 199 }, (_, i) => agentText(`text ${i} `.repeat(20)));
    for (let batch = 0; ; batch++) {
      const last = { type: 'model_changed', modelId: `batch ${batch}` } as const;
      const { ackedSeq } = await store.transcripts.append(
        'sess_a',
        toEvents(runtime, batch * 200 + 1, ...bodies, last),
      );
      say(String(ackedSeq));
    }
  },
  /** Opens the store once told to, at the same moment as others. */
  open: async () => {
    say('ready');
    await go();
    const store = await openStore();
    await store.feed.append({ type: 'policy.changed', version: 1 });
    say('opened');
  },
  /** Takes a file for itself once told to, and keeps it. */
  lock: async () => {
    say('ready');
    await go();
    try {
      openSqlite(location, { exclusive: true });
      say('held');
    } catch (error) {
      say(String((error as { code?: unknown }).code));
    }
    await once(process, 'SIGTERM');
  },
};

await JOBS[job ?? '']?.();
