import { KaiwuError, toWireError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/ports/host.ts';
import type { SessionControlPort } from '../../../core/ports/sessions.ts';
import type { Runtime } from '../../../core/ports/stores.ts';
import { isRunOver, MAX_RUNS_AT_ONCE } from '../../../core/run.ts';
import type { FailureReason } from '../../../core/session.ts';
import type { RunOutcome, StoredRun } from '../../store/run-store.ts';
import type { BackendStore } from '../../store/store.ts';
import type { Deliveries } from '../deliveries.ts';
import { type RunEnd, workRun } from './work-run.ts';

/** Works on the runs that the store holds: each in its turn, to its end, over restarts of this process. */
export interface RunWork {
  /** Starts what a session has places for. */
  schedule(sessionId: string): Promise<void>;
  /** Ends a run that is not over and stops its session. */
  end(
    runId: string,
    status: 'cancelled' | 'timed_out',
    reason: FailureReason,
  ): Promise<StoredRun | undefined>;
  /** Resolves when nothing is left to do for a run that is over. */
  settled(runId: string): Promise<void>;
  /** Cancels the runs of a session that ends. */
  cancelOf(sessionId: string, reason: FailureReason): Promise<void>;
  /** Takes up what an earlier process left. To be awaited once, before the first call. */
  resume(): Promise<void>;
  /** Stops sessions that could not be reached when their runs ended. */
  machineLinked(machineId: string): Promise<void>;
  /** Lets go of everything; the next process takes it up. */
  close(): Promise<void>;
}

interface Worker {
  abort: AbortController;
  timer?: ReturnType<typeof setTimeout>;
  done: Promise<void>;
}

export function createRunWork(options: {
  store: BackendStore;
  control: Pick<SessionControlPort, 'spawn' | 'stop'>;
  deliver: Deliveries['deliver'];
  runtime: Pick<Runtime, 'now'>;
  log: Logger;
}): RunWork {
  const { store, control, log } = options;
  const { runs } = store;
  const workers = new Map<string, Worker>();
  const settling = new Map<string, Promise<void>>();
  let closed = false;

  async function schedule(sessionId: string): Promise<void> {
    for (;;) {
      if (closed) return;
      const next = await runs.startNext(sessionId, MAX_RUNS_AT_ONCE);
      if (next === undefined) return;
      startWorker(next);
    }
  }

  function startWorker(run: StoredRun): void {
    if (closed) return;
    const { runId } = run;
    // What is still being stopped of its earlier life is stopped first; it would take the new one with it.
    const before = Promise.all([workers.get(runId)?.done, settling.get(runId)]);
    const worker: Worker = { abort: new AbortController(), done: Promise.resolve() };
    workers.set(runId, worker);
    worker.done = work(run, worker, before).finally(() => {
      clearTimeout(worker.timer);
      if (workers.get(runId) === worker) workers.delete(runId);
    });
  }

  /** Never rejects: what goes wrong is the run's own end. */
  async function work(run: StoredRun, worker: Worker, before: Promise<unknown>): Promise<void> {
    await before;
    const { signal } = worker.abort;
    worker.timer = setTimeout(() => {
      end(run.runId, 'timed_out', timedOut(run)).catch((error: unknown) =>
        log.error({ runId: run.runId, error }, 'a run over its time was not stopped'),
      );
    }, remainingMs(run));
    try {
      for (;;) {
        const found = await workRun(run, { store, spawn: control.spawn, deliver: options.deliver }, signal);
        if (signal.aborted) return;
        const { status, lastOrdinal, ...outcome } = found;
        if ((await finish(run.runId, status, outcome, lastOrdinal)) !== undefined) return;
        // Something was said in the last moment, or somebody else has ended it.
        const now = await runs.get(run.runId);
        if (now === undefined || isRunOver(now.status)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof KaiwuError)) log.error({ runId: run.runId, error }, 'a run broke off');
      const { code, message, hint } = toWireError(error);
      const reason = { code, message, ...(hint === undefined ? {} : { hint }) };
      await finish(run.runId, 'failed', { reason }).catch((failure: unknown) =>
        log.error({ runId: run.runId, error: failure }, 'the end of a run was not stored'),
      );
    }
  }

  async function finish(
    runId: string,
    status: RunEnd['status'] | 'timed_out',
    outcome: RunOutcome,
    lastOrdinal?: number,
  ): Promise<StoredRun | undefined> {
    const ended = await runs.end(runId, ['running'], status, outcome, lastOrdinal);
    if (ended !== undefined) afterEnd(ended);
    return ended;
  }

  async function end(
    runId: string,
    status: 'cancelled' | 'timed_out',
    reason: FailureReason,
  ): Promise<StoredRun | undefined> {
    const from: ('queued' | 'running')[] = status === 'timed_out' ? ['running'] : ['queued', 'running'];
    const ended = await runs.end(runId, from, status, { reason });
    if (ended === undefined) return undefined;
    workers.get(runId)?.abort.abort();
    afterEnd(ended);
    return ended;
  }

  function afterEnd(run: StoredRun): void {
    void settle(run.runId);
    void schedule(run.sessionId).catch((error: unknown) =>
      log.error({ sessionId: run.sessionId, error }, 'the next run was not started'),
    );
  }

  /** Leaves nothing of a run that is over but its words. Never rejects; what fails is tried when the machine is back. */
  function settle(runId: string): Promise<void> {
    const worker = workers.get(runId);
    const done = (settling.get(runId) ?? Promise.resolve())
      .then(() => stopSession(runId, worker))
      .catch((error: unknown) =>
        log.warn({ runId, reason: String(error) }, 'the session of a run stays for now'),
      )
      .finally(() => {
        if (settling.get(runId) === done) settling.delete(runId);
      });
    settling.set(runId, done);
    return done;
  }

  async function stopSession(runId: string, worker: Worker | undefined): Promise<void> {
    // A worker that ends the run itself settles it on its way out.
    if (worker?.abort.signal.aborted === true) await worker.done;
    const run = await runs.get(runId);
    if (run === undefined || !run.stopDue || closed) return;
    const sessionId = run.runSessionId ?? (await runs.sessionOf(runId));
    if (sessionId !== undefined) {
      if (run.runSessionId === undefined) await runs.setSession(runId, sessionId);
      await control.stop(sessionId, run.requester).catch((error: unknown) => giveUpStart(sessionId, error));
    }
    await runs.setStopped(runId);
  }

  /** A start that never reached its machine must not be asked for again when the machine is back. */
  async function giveUpStart(sessionId: string, error: unknown): Promise<void> {
    const { status, lastSeq } = await store.sessions.get(sessionId);
    if (toWireError(error).code !== 'session_not_found' || status !== 'starting' || lastSeq > 0) throw error;
    await store.sessions.failStart(sessionId, {
      code: 'canceled',
      message: 'its run ended before it started',
    });
  }

  function remainingMs({ startedAt, timeoutSeconds }: StoredRun): number {
    const now = options.runtime.now().getTime();
    const since = startedAt === undefined ? now : Date.parse(startedAt);
    return Math.max(0, since + timeoutSeconds * 1000 - now);
  }

  return {
    schedule,
    end,
    settled: async (runId) => settling.get(runId),
    async cancelOf(sessionId, reason) {
      const open = (await runs.unfinished()).filter((run) => run.sessionId === sessionId);
      // From the end of the queue, so that none of them is started in between.
      for (const run of open.toReversed()) await end(run.runId, 'cancelled', reason);
    },
    async resume() {
      const left = await runs.unfinished();
      for (const run of left.filter(({ status }) => status === 'running')) startWorker(run);
      for (const sessionId of new Set(left.map((run) => run.sessionId))) await schedule(sessionId);
    },
    async machineLinked(machineId) {
      for (const { runId, stopDue, sessionId } of await runs.unfinished()) {
        if (stopDue && (await store.sessions.get(sessionId)).machineId === machineId) await settle(runId);
      }
    },
    async close() {
      closed = true;
      for (const { abort, timer } of workers.values()) {
        clearTimeout(timer);
        abort.abort();
      }
      await Promise.all([...[...workers.values()].map((worker) => worker.done), ...settling.values()]);
    },
  };
}

const timedOut = ({ timeoutSeconds }: StoredRun): FailureReason => ({
  code: 'timeout',
  message: `The run was not over after its ${timeoutSeconds} s.`,
  hint: 'Send it a further message to let it go on, or start one with more time.',
});
