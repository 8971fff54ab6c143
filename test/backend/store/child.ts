/**
 * A second process for the tests: `child.ts JOB DATABASE LOCATION [NAME]`. It prints one word a line when something
 * has happened, and goes on when a line comes in on stdin.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { createTestRuntime, DATABASES } from './databases.ts';
import { agentText, toEvents } from './make.ts';

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
