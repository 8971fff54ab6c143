import type { Caller } from './call.ts';
import { KaiwuError } from './errors.ts';
import type { AnyAction } from './spec.ts';
import { MAX_WAIT_SECONDS } from './wait.ts';

/** Seconds that an action may take beyond the longest wait that its caller can bear. */
const SLACK_SECONDS = 120;

/**
 * Runs an action under its deadline. A tool of a managed server has none here: how long it may take is set for its server, and is
 * kept where that is run. @throws timeout
 */
export async function runInTime<T>(
  action: Pick<AnyAction, 'id' | 'managed'>,
  caller: Pick<Caller, 'maxWaitSeconds'>,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (action.managed !== undefined) return run(signal);
  const seconds = (caller.maxWaitSeconds ?? MAX_WAIT_SECONDS) + SLACK_SECONDS;
  const deadline = AbortSignal.timeout(seconds * 1000);
  const late = new Promise<never>((_, reject) => {
    deadline.addEventListener('abort', () =>
      reject(new KaiwuError('timeout', `${action.id} took longer than ${seconds} s.`)),
    );
  });
  late.catch(() => {});
  return Promise.race([run(AbortSignal.any([signal, deadline])), late]);
}
