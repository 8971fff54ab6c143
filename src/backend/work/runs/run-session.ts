import type { Caller } from '../../../core/call.ts';
import { KaiwuError } from '../../../core/errors.ts';
import type { SessionControlPort } from '../../../core/ports/sessions.ts';
import type { RunIntent } from '../../../core/run.ts';
import { isAgent } from '../../ports/escalation.ts';
import type { StoredRun } from '../../store/run-store.ts';
import type { BackendStore } from '../../store/store.ts';
import { watch } from '../../watch.ts';
import { START_WAIT_MS, toStartError } from '../starts.ts';

/** Seconds for a machine to come back: after a restart of the backend its daemons need a moment. */
const LINK_PATIENCE_SECONDS = 30;

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
      LINK_PATIENCE_SECONDS + START_WAIT_MS / 1000,
      signal,
    );
    if (session.status === 'failed') throw toStartError(session);
    if (session.status === 'starting')
      throw new KaiwuError('timeout', `session ${sessionId} of the run did not start in time.`);
  }

  const untilLinked = (machineId: string) =>
    watch(
      store.feed,
      {
        concerns: (entry) => entry.type === 'machine.changed' && entry.machineId === machineId,
        read: () => store.machines.get(machineId),
        done: (machine) => machine?.online === true,
      },
      LINK_PATIENCE_SECONDS,
      signal,
    );

  const known = run.runSessionId ?? (await store.runs.sessionOf(run.runId));
  if (known !== undefined) {
    await store.runs.setSession(run.runId, known);
    await untilStarted(known);
    return known;
  }
  const parent = await store.sessions.get(run.sessionId);
  await untilLinked(parent.machineId);
  const { sessionId } = await spawn(
    {
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
    },
    within(run.requester, parent.sessionId),
    signal,
  );
  await store.runs.setSession(run.runId, sessionId);
  return sessionId;
}

/** What an agent starts is a child of the session that its token is for: here of the one that the run belongs to. */
const within = (requester: Caller, sessionId: string): Caller =>
  isAgent(requester) ? { ...requester, scope: { ...requester.scope, sessionId } } : requester;

function toTitle({ intent, instructions }: StoredRun): string {
  const first = instructions.trim().split('\n', 1)[0] ?? '';
  const characters = [...first];
  const short = characters.length > TITLE_MAX ? `${characters.slice(0, TITLE_MAX).join('')}…` : first;
  return `${TITLES[intent]}: ${short}`;
}
