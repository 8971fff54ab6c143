import type { Kysely, Selectable } from 'kysely';
import type { Runtime } from '../../core/ports/stores.ts';
import { isRunOver } from '../../core/run.ts';
import { readPage } from './paging.ts';
import { fromJson, toJson, withoutNulls } from './rows.ts';
import type { RunMessage, RunOutcome, RunStore, StoredRun } from './run-store.ts';
import type { Schema } from './schema.ts';
import type { Announce, Writer } from './writer.ts';

const ORDER = { list: 'runs', columns: { createdAt: 'string', runId: 'string' } } as const;

/** All but the place, which is nobody's but the store's. */
const COLUMNS = [
  'runId',
  'sessionId',
  'intent',
  'backendTarget',
  'instructions',
  'modelId',
  'permissionMode',
  'worktree',
  'promptVersion',
  'status',
  'runSessionId',
  'timeoutSeconds',
  'requester',
  'stopDue',
  'answered',
  'createdAt',
  'startedAt',
  'endedAt',
  'result',
  'rawText',
  'resultProblem',
  'reason',
] as const;

function toRun(row: Pick<Selectable<Schema['runs']>, (typeof COLUMNS)[number]>): StoredRun {
  return withoutNulls({
    ...row,
    backendTarget: fromJson(row.backendTarget),
    instructions: fromJson(row.instructions),
    worktree: row.worktree === null ? null : row.worktree === 1,
    requester: fromJson(row.requester),
    stopDue: row.stopDue === 1,
    result: fromJson(row.result),
    rawText: fromJson(row.rawText),
    resultProblem: fromJson(row.resultProblem),
    reason: fromJson(row.reason),
  });
}

const toMessage = (row: Selectable<Schema['runMessages']>): RunMessage => ({
  ...row,
  text: fromJson(row.text),
});

/** Every field, so that nothing of an earlier outcome stays. */
const toColumns = ({ result, rawText, resultProblem, reason }: RunOutcome) => ({
  result: toJson(result),
  rawText: toJson(rawText),
  resultProblem: toJson(resultProblem),
  reason: toJson(reason),
});

/**
 * The same run always says the same under the same id, so sending it again after a crash is no second message. With a dot, which
 * no caller's own id has: whoever sent something else under it before would answer in the place of the run.
 */
const toMessageId = (runId: string, ordinal: number): string =>
  `${runId.replace(/^run_/, 'msg_')}.${ordinal}`;

const tell = (announce: Announce, { runId, sessionId }: { runId: string; sessionId: string }) =>
  announce({ type: 'run.changed', runId, sessionId });

export function createRunStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): RunStore {
  const now = () => runtime.now().toISOString();

  const find = async (from: Kysely<Schema>, runId: string): Promise<StoredRun | undefined> => {
    const row = await from.selectFrom('runs').select(COLUMNS).where('runId', '=', runId).executeTakeFirst();
    return row && toRun(row);
  };

  const nextPlace = async (from: Kysely<Schema>): Promise<number> => {
    const { last } = await from
      .selectFrom('runs')
      .select((eb) => eb.fn.max('place').as('last'))
      .executeTakeFirstOrThrow();
    return (last ?? 0) + 1;
  };

  const lastOrdinal = async (from: Kysely<Schema>, runId: string): Promise<number> => {
    const { last } = await from
      .selectFrom('runMessages')
      .select((eb) => eb.fn.max('ordinal').as('last'))
      .where('runId', '=', runId)
      .executeTakeFirstOrThrow();
    return last ?? 0;
  };

  const insertMessage = async (to: Kysely<Schema>, message: Omit<RunMessage, 'messageId'>) => {
    const messageId = toMessageId(message.runId, message.ordinal);
    await to
      .insertInto('runMessages')
      .values({ ...message, messageId, text: toJson(message.text) })
      .execute();
    return { ...message, messageId };
  };

  /** Changes one run that fits `allowed`, tells of it and answers it as it is then. */
  const change = (
    runId: string,
    allowed: (run: StoredRun, trx: Kysely<Schema>) => boolean | Promise<boolean>,
    changes: (run: StoredRun) => Partial<Selectable<Schema['runs']>>,
  ): Promise<StoredRun | undefined> =>
    writer.write(async (trx, announce) => {
      const run = await find(trx, runId);
      if (run === undefined || !(await allowed(run, trx))) return undefined;
      await trx.updateTable('runs').set(changes(run)).where('runId', '=', runId).execute();
      tell(announce, run);
      return find(trx, runId);
    });

  return {
    insert: (run, prompt, failed) =>
      writer.write(async (trx, announce) => {
        const at = now();
        const { modelId = null, worktree, backendTarget, instructions, requester, ...rest } = run;
        await trx
          .insertInto('runs')
          .values({
            ...rest,
            place: await nextPlace(trx),
            backendTarget: toJson(backendTarget),
            instructions: toJson(instructions),
            modelId,
            worktree: worktree === undefined ? null : Number(worktree),
            requester: toJson(requester),
            status: failed === undefined ? 'queued' : 'failed',
            stopDue: 0,
            answered: 0,
            createdAt: at,
            endedAt: failed === undefined ? null : at,
            reason: toJson(failed),
          })
          .execute();
        await insertMessage(trx, { runId: run.runId, ordinal: 1, kind: 'prompt', text: prompt });
        tell(announce, run);
        return (await find(trx, run.runId)) as StoredRun;
      }),

    get: (runId) => find(db, runId),

    list: ({ sessionId, status, intent }, page) => {
      let query = db.selectFrom('runs').select(COLUMNS);
      if (sessionId !== undefined) query = query.where('sessionId', '=', sessionId);
      if (status !== undefined) query = query.where('status', '=', status);
      if (intent !== undefined) query = query.where('intent', '=', intent);
      return readPage(query, ORDER, page, toRun);
    },

    countOpen: async (sessionId) => {
      const { open } = await db
        .selectFrom('runs')
        .select(({ fn }) => fn.countAll<number>().as('open'))
        .where('sessionId', '=', sessionId)
        .where('status', 'in', ['queued', 'running'])
        .executeTakeFirstOrThrow();
      return Number(open);
    },

    unfinished: async () => {
      const rows = await db
        .selectFrom('runs')
        .select(COLUMNS)
        .where((eb) => eb.or([eb('status', 'in', ['queued', 'running']), eb('stopDue', '=', 1)]))
        .orderBy('place')
        .execute();
      return rows.map(toRun);
    },

    startNext: (sessionId, max) =>
      writer.write(async (trx, announce) => {
        const open = await trx
          .selectFrom('runs')
          .select(['runId', 'status'])
          .where('sessionId', '=', sessionId)
          .where('status', 'in', ['queued', 'running'])
          .orderBy('place')
          .execute();
        const next = open.find((run) => run.status === 'queued');
        const running = open.filter((run) => run.status === 'running').length;
        if (next === undefined || running >= max) return undefined;
        await trx
          .updateTable('runs')
          .set({ status: 'running', startedAt: now() })
          .where('runId', '=', next.runId)
          .execute();
        tell(announce, { runId: next.runId, sessionId });
        return find(trx, next.runId);
      }),

    end: (runId, from, to, outcome, last) =>
      change(
        runId,
        async (run, trx) =>
          from.some((status) => status === run.status) &&
          (last === undefined || last === (await lastOrdinal(trx, runId))),
        () => ({ status: to, endedAt: now(), stopDue: 1, ...toColumns(outcome) }),
      ),

    setAnswered: async (runId, answered, outcome) => {
      await change(
        runId,
        (run) => run.status === 'running' && run.answered < answered,
        () => ({ answered, ...(outcome === undefined ? {} : toColumns(outcome)) }),
      );
    },

    setSession: async (runId, runSessionId) => {
      await change(
        runId,
        (run) => run.runSessionId !== runSessionId,
        () => ({ runSessionId }),
      );
    },

    setStopped: async (runId) => {
      await change(
        runId,
        (run) => run.stopDue && isRunOver(run.status),
        () => ({ stopDue: 0 }),
      );
    },

    sessionOf: async (runId) => {
      const row = await db
        .selectFrom('sessions')
        .select('sessionId')
        .where('runId', '=', runId)
        .executeTakeFirst();
      return row?.sessionId;
    },

    addMessage: (runId, kind, text, after) =>
      writer.write(async (trx, announce) => {
        const run = await find(trx, runId);
        const last = await lastOrdinal(trx, runId);
        if (run === undefined) return undefined;
        const over = isRunOver(run.status);
        if (after !== undefined && (over || after !== last)) return undefined;
        if (over) {
          const again = { status: 'queued', startedAt: null, endedAt: null, stopDue: 0 } as const;
          await trx
            .updateTable('runs')
            .set({ ...again, ...toColumns({}), place: await nextPlace(trx) })
            .where('runId', '=', runId)
            .execute();
        }
        const message = await insertMessage(trx, { runId, ordinal: last + 1, kind, text });
        tell(announce, run);
        return message;
      }),

    messages: async (runId) => {
      const rows = await db
        .selectFrom('runMessages')
        .selectAll()
        .where('runId', '=', runId)
        .orderBy('ordinal')
        .execute();
      return rows.map(toMessage);
    },

    lastOrdinal: (runId) => lastOrdinal(db, runId),
  };
}
