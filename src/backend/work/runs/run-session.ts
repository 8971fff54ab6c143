import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '../../../core/call.ts';
import { KaiwuError } from '../../../core/errors.ts';
import type { SessionControlPort, SpawnRequest } from '../../../core/ports/sessions.ts';
import type { RunIntent } from '../../../core/run.ts';
import type { Session } from '../../../core/session.ts';
import { isAgent } from '../../ports/escalation.ts';
import type { StoredRun } from '../../store/run-store.ts';
import type { BackendStore } from '../../store/store.ts';
import { watch } from '../../watch.ts';
import { toStartError } from '../starts.ts';

/** Milliseconds before a machine that is linked but could not be asked is asked again. */
const ASK_AGAIN_MS = 500;

/** What a start ends in while the machine is away: it waits for it, as long as the run has time. */
const AWAY = new Set<unknown>(['machine_offline', 'daemon_not_running']);

const TITLES: Record<RunIntent, string> = {
  review: 'Review',
  plan: 'Plan',
  delegate: 'Work',
  voice_agent: 'Voice',
};

/** Characters of the instructions in a title. */
const TITLE_MAX = 80;

/**
 * The session that carries a run out: the one that it has, one that an earlier process started for it, or a new one.
 * A machine that is away is waited for.
 * @throws why it could not be started; canceled when the signal aborts
 */
export async function openRunSession(
  run: StoredRun,
  options: {
    store: Pick<BackendStore, 'runs' | 'sessions' | 'machines' | 'feed'>;
    spawn: SessionControlPort['spawn'];
  },
  signal: AbortSignal,
): Promise<string> {
  const { store, spawn } = options;

  async function untilStarted(sessionId: string): Promise<void> {
    const { status } = await store.sessions.get(sessionId);
    if (status !== 'starting') return;
    const session = await watch(
      store.feed,
      {
        concerns: (entry) => entry.type === 'session.changed' && entry.sessionId === sessionId,
        read: () => store.sessions.get(sessionId),
        done: (row) => row.status !== 'starting',
      },
      Number.POSITIVE_INFINITY,
      signal,
    );
    if (session.status === 'failed') throw toStartError(session);
  }

  const untilLinked = (machineId: string) =>
    watch(
      store.feed,
      {
        concerns: (entry) => entry.type === 'machine.changed' && entry.machineId === machineId,
        read: () => store.machines.get(machineId),
        done: (machine) => machine?.online === true,
      },
      Number.POSITIVE_INFINITY,
      signal,
    );

  async function spawnSession(parent: Session): Promise<string | undefined> {
    try {
      const { sessionId } = await spawn(
        toSpawnRequest(run, parent),
        within(run.requester, parent.sessionId),
        signal,
      );
      return sessionId;
    } catch (error) {
      if (!(error instanceof KaiwuError && AWAY.has(error.code))) throw error;
      await delay(ASK_AGAIN_MS, undefined, { signal });
      return undefined;
    }
  }

  for (;;) {
    const known = run.runSessionId ?? (await store.runs.sessionOf(run.runId));
    if (known !== undefined) {
      await store.runs.setSession(run.runId, known);
      await untilStarted(known);
      return known;
    }
    const parent = await store.sessions.get(run.sessionId);
    await untilLinked(parent.machineId);
    const sessionId = await spawnSession(parent);
    if (sessionId === undefined) continue;
    await store.runs.setSession(run.runId, sessionId);
    return sessionId;
  }
}

const toSpawnRequest = (run: StoredRun, parent: Session): SpawnRequest => ({
  agentId: run.backendTarget.agentId,
  directory: parent.directory,
  machineId: parent.machineId,
  title: toTitle(run),
  permissionMode: run.permissionMode,
  tags: ['run', run.intent],
  parentSessionId: parent.sessionId,
  runId: run.runId,
  ...(run.modelId === undefined ? {} : { modelId: run.modelId }),
  ...(run.worktree === true ? { worktree: {} } : {}),
});

/** What an agent starts is a child of the session that its token is for: here of the one that the run belongs to. */
const within = (requester: Caller, sessionId: string): Caller =>
  isAgent(requester) ? { ...requester, scope: { ...requester.scope, sessionId } } : requester;

function toTitle({ intent, instructions }: StoredRun): string {
  const first = instructions.trim().split('\n', 1)[0] ?? '';
  const characters = [...first];
  const short = characters.length > TITLE_MAX ? `${characters.slice(0, TITLE_MAX).join('')}…` : first;
  return `${TITLES[intent]}: ${short}`;
}
