import type { SessionControlPort, SessionsPort } from '../../../core/ports/sessions.ts';
import type { RunWork } from './runs.ts';

/** Runs end with the session that they belong to: they are cancelled before it is stopped or archived. */
export function endRunsWithParent(
  ports: { control: SessionControlPort; sessions: SessionsPort },
  work: () => Pick<RunWork, 'cancelOf'>,
): { control: SessionControlPort; sessions: SessionsPort } {
  const { control, sessions } = ports;
  const cancel = (sessionId: string, how: 'stopped' | 'archived') =>
    work().cancelOf(sessionId, { code: 'canceled', message: `Session ${sessionId} was ${how}.` });
  return {
    control: {
      ...control,
      async stop(sessionId, caller) {
        await cancel(sessionId, 'stopped');
        return control.stop(sessionId, caller);
      },
      async archive(sessionId, caller) {
        await cancel(sessionId, 'archived');
        return control.archive(sessionId, caller);
      },
    },
    sessions: {
      ...sessions,
      async setArchived(sessionId, archived) {
        if (archived) await cancel(sessionId, 'archived');
        return sessions.setArchived(sessionId, archived);
      },
    },
  };
}
