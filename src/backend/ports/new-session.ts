import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { Session } from '../../core/session.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { BackendStore, NewSession } from '../store/store.ts';
import { watch } from '../watch.ts';
import { type Starts, toStartError } from '../work/starts.ts';
import { toOfflineError } from './machines-of.ts';

/** Seconds past the limit of the start itself, so that its outcome comes first. */
const SLACK_SECONDS = 2;

/** Stores a session and waits until its agent is ready. @throws what keeps it from that, with the session's id */
export type StartNew = (
  session: NewSession,
  environment: Record<string, string> | undefined,
  caller: Caller,
  signal: AbortSignal,
) => Promise<Session>;

export function createStartNew(options: {
  store: BackendStore;
  links: MachineLinks;
  starts: Starts;
}): StartNew {
  const { store, links, starts } = options;

  /** Waits for the row to leave `starting`: the start is asked for again if the link drops meanwhile. */
  async function untilStarted(
    { sessionId, machineId }: Session,
    failure: Promise<unknown>,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Session> {
    const started = await watch(
      store.feed,
      {
        concerns: (entry) => entry.type === 'session.changed' && entry.sessionId === sessionId,
        read: () => store.sessions.get(sessionId),
        done: (row) => row.status !== 'starting',
      },
      starts.waitMs / 1000 + SLACK_SECONDS,
      signal,
    );
    if (started.status === 'starting') {
      if (!links.isLinked(machineId)) throw await toOfflineError(store.machines, machineId, caller);
      throw new KaiwuError('timeout', `session ${sessionId} is still starting.`);
    }
    if (started.status !== 'failed') return started;
    await store.sessions.dismissStart(sessionId);
    // The daemon's own error says more than the row; it was lost if the link dropped in between.
    const error = await failure;
    throw error instanceof KaiwuError && error.code === started.reason?.code ? error : toStartError(started);
  }

  return async (given, environment, caller, signal) => {
    const { machineId } = given;
    if (!links.isLinked(machineId)) throw await toOfflineError(store.machines, machineId, caller);
    const session = await store.sessions.insert(given);
    const failure = starts.start(session, environment).then(
      () => undefined,
      (error: unknown) => error,
    );
    return untilStarted(session, failure, caller, signal).catch((error: unknown) => {
      throw withSession(error, session.sessionId);
    });
  };
}

function withSession(error: unknown, sessionId: string): unknown {
  if (!(error instanceof KaiwuError)) return error;
  const { code, message, hint, details, cause } = error;
  return new KaiwuError(code, message, { hint, details: { ...details, sessionId }, cause });
}
