import type { Caller } from '../../core/call.ts';
import { KaiwuError, toWireError } from '../../core/errors.ts';
import type { RunRef, RunRequest, RunsPort } from '../../core/ports/runs.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { isRunOver, MAX_OPEN_RUNS, type RunTurn } from '../../core/run.ts';
import type { AgentInfo } from '../../core/agent.ts';
import { isFinal, type PermissionMode } from '../../core/session.ts';
import { promptVersion, toPrompt } from '../prompts/index.ts';
import type { StoredRun } from '../store/run-store.ts';
import type { BackendStore } from '../store/store.ts';
import { watch } from '../watch.ts';
import type { RunWork } from '../work/runs/runs.ts';
import { toSpoken } from '../work/runs/spoken.ts';
import { chooseMode, defaultMode, freedomOf, ownTarget, withKinds } from '../work/runs/targets.ts';
import { getOpen } from './get-open.ts';
import { ownFreedom, refuseFreerHelp } from './lineage.ts';
import { toOfflineError } from './machines-of.ts';
import { refuseRunOfOthers } from './runs-of-others.ts';

export function createRuns(options: {
  store: BackendStore;
  work: RunWork;
  runtime: Pick<Runtime, 'newId'>;
  /** Agents of a linked machine, asked afresh. */
  freshAgents(machineId: string, caller: Caller): Promise<AgentInfo[]>;
}): RunsPort {
  const { store, work } = options;

  async function find({ runId, sessionId }: RunRef): Promise<StoredRun> {
    const run = await store.runs.get(runId);
    const fits =
      run !== undefined &&
      (sessionId === undefined || (await store.sessions.isWithin(run.sessionId, sessionId)));
    if (fits) return run;
    const where = sessionId === undefined ? '' : ` of session ${sessionId} or of one below it`;
    throw new KaiwuError('not_found', `No run ${JSON.stringify(runId.slice(0, 80))}${where} is known.`, {
      hint: 'List the runs to find its id.',
    });
  }

  async function requireRoom(sessionId: string, wanted: number): Promise<void> {
    const open = await store.runs.countOpen(sessionId);
    if (open + wanted <= MAX_OPEN_RUNS) return;
    throw new KaiwuError('rate_limited', `Session ${sessionId} has ${open} runs that are not over.`, {
      hint: `At most ${MAX_OPEN_RUNS} may be. Wait for some of them or stop them; nothing was started.`,
      details: { open, limit: MAX_OPEN_RUNS },
    });
  }

  /** What is known of the machine's agents; asked anew where a target is not among them. */
  async function agentsOf(machineId: string, { backendTargets }: RunRequest, caller: Caller) {
    const known = (await store.machines.get(machineId))?.agents ?? [];
    const missing = backendTargets.some(
      ({ agentId }) => !known.some((agent) => agent.agentId === agentId && agent.available),
    );
    // A machine that is away says nothing new; the run's own start tells of that.
    return missing ? await options.freshAgents(machineId, caller).catch(() => known) : known;
  }

  async function readTurn(run: StoredRun, messageId: string): Promise<RunTurn> {
    const message = await store.messages.get(messageId);
    if (message === undefined) return { messageId, status: 'queued' };
    const { status, reply, reason } = message;
    const said = reply !== undefined && run.intent === 'voice_agent' ? toSpoken(reply) : reply;
    return {
      messageId,
      status,
      ...(said === undefined ? {} : { reply: said }),
      ...(reason === undefined ? {} : { reason }),
    };
  }

  /** A voice agent that has nothing left to answer. */
  const hasAnswered = async ({ runId, intent, answered }: StoredRun): Promise<boolean> =>
    intent === 'voice_agent' && answered === (await store.runs.lastOrdinal(runId));

  return {
    async start(request, caller) {
      const { sessionId, intent } = request;
      const parent = await getOpen(store.sessions, sessionId);
      if (request.worktree === true && intent !== 'delegate') {
        const message = `is for delegate only; a ${intent} run changes nothing`;
        throw new KaiwuError('invalid_input', `worktree ${message}.`, {
          details: { issues: [{ path: 'worktree', message }] },
        });
      }
      const { sessionId: ownId } = caller.scope;
      const own =
        ownId === undefined
          ? undefined
          : { ...(await store.sessions.get(ownId)), permissionMode: await ownFreedom(store, caller) };
      const refuseFreer = freedomOf(caller, parent, own);
      refuseFreer(request.permissionMode);
      const agents = await agentsOf(parent.machineId, request, caller);
      const wanted = request.backendTargets.length > 0 ? request.backendTargets : [ownTarget(parent, agents)];
      const backendTargets = withKinds(wanted, agents);
      await requireRoom(sessionId, backendTargets.length);
      const { online } = (await store.machines.get(parent.machineId)) ?? {};
      const offline =
        online === true ? undefined : await toOfflineError(store.machines, parent.machineId, caller);
      const started: StoredRun[] = [];
      for (const backendTarget of backendTargets) {
        const mode = chosen(() => {
          if (offline !== undefined) throw offline;
          return chooseMode(request, backendTarget, agents, parent, refuseFreer);
        });
        const run = {
          runId: options.runtime.newId('run'),
          sessionId,
          intent,
          backendTarget,
          instructions: request.instructions,
          permissionMode: mode.mode ?? request.permissionMode ?? defaultMode(intent, parent),
          promptVersion: promptVersion(intent),
          timeoutSeconds: request.timeoutSeconds,
          requester: caller,
          ...(request.modelId === undefined ? {} : { modelId: request.modelId }),
          ...(request.worktree === undefined ? {} : { worktree: request.worktree }),
        };
        started.push(await store.runs.insert(run, toPrompt(intent, request.instructions), mode.reason));
      }
      await work.schedule(sessionId);
      return Promise.all(started.map(async (run) => (await store.runs.get(run.runId)) ?? run));
    },

    list: store.runs.list,

    get: find,

    async send(ref, text, caller) {
      const { runId, sessionId, runSessionId, status, permissionMode, requester } = await find(ref);
      refuseRunOfOthers(runId, requester, caller);
      const mode =
        runSessionId === undefined ? permissionMode : (await store.sessions.get(runSessionId)).permissionMode;
      await refuseFreerHelp(store, caller, `${runSessionId ?? sessionId} of run ${runId}`, mode);
      if (isRunOver(status)) await requireRoom(sessionId, 1);
      await getOpen(store.sessions, sessionId);
      if (runSessionId !== undefined) await getOpen(store.sessions, runSessionId);
      // What was going to be stopped is stopped first: a stop that comes later would take this message with it.
      await work.settled(runId);
      const message = await store.runs.addMessage(runId, 'said', text);
      if (message === undefined) throw new KaiwuError('not_found', `No run ${runId} is known.`);
      await work.schedule(sessionId);
      const run = await find(ref);
      return { run, turn: await readTurn(run, message.messageId) };
    },

    turn: async (ref, messageId, seconds, signal) => {
      const { runId } = await find(ref);
      return watch(
        store.feed,
        {
          concerns: (entry) =>
            (entry.type === 'message.changed' && entry.messageId === messageId) ||
            (entry.type === 'run.changed' && entry.runId === runId),
          async read() {
            const run = await find(ref);
            return { run, turn: await readTurn(run, messageId) };
          },
          done: ({ run, turn }) => isFinal(turn.status) || isRunOver(run.status),
        },
        seconds,
        signal,
      );
    },

    async stop(ref, caller) {
      const { runId, requester } = await find(ref);
      refuseRunOfOthers(runId, requester, caller);
      await work.end(runId, 'cancelled', {
        code: 'canceled',
        message: `It was stopped from ${caller.client}.`,
      });
      await work.settled(runId);
      return find(ref);
    },

    wait: async (ref, seconds, signal) => {
      const { runId } = await find(ref);
      return watch(
        store.feed,
        {
          concerns: (entry) => entry.type === 'run.changed' && entry.runId === runId,
          async read() {
            const run = await find(ref);
            return { run, settled: isRunOver(run.status) || (await hasAnswered(run)) };
          },
          done: (seen) => seen.settled,
        },
        seconds,
        signal,
      );
    },

    read: async (ref, { after, limit, seconds }, signal) => {
      const { runId } = await find(ref);
      let runSessionId: string | undefined;
      return watch(
        store.feed,
        {
          concerns: (entry) =>
            (entry.type === 'run.changed' && entry.runId === runId) ||
            (entry.type === 'transcript.appended' && entry.sessionId === runSessionId),
          async read() {
            const run = await find(ref);
            runSessionId = run.runSessionId;
            const page =
              runSessionId === undefined
                ? { events: [], lastSeq: 0 }
                : await store.transcripts.page(runSessionId, { after, limit });
            return { run, ...page };
          },
          done: ({ run, events }) => events.length > 0 || isRunOver(run.status),
        },
        seconds,
        signal,
      );
    },
  };
}

/** One target that cannot be had is a run that failed; the others are started. */
function chosen(choose: () => PermissionMode) {
  try {
    return { mode: choose() };
  } catch (error) {
    if (!(error instanceof KaiwuError)) throw error;
    const { code, message, hint } = toWireError(error);
    return { reason: { code, message, ...(hint === undefined ? {} : { hint }) } };
  }
}
