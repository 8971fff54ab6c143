import { ERRORS, KaiwuError, toWireError } from '../../core/errors.ts';
import { START_LIMIT_MS, START_SLACK_MS } from '../../core/link.ts';
import type { Session } from '../../core/session.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { SessionStore } from '../store/store.ts';

/** Milliseconds after which a start that the daemon has not answered is given up. */
export const START_WAIT_MS = START_LIMIT_MS + START_SLACK_MS;

/** Asks daemons to start sessions that the store already holds. */
export interface Starts {
  /** Milliseconds that a start may take, the daemon's answer included. */
  readonly waitMs: number;
  /**
   * Resolves when the agent is ready. A start that fails marks the session `failed`; one whose link drops leaves it
   * `starting`, to be asked for again when the machine is back. @throws what the daemon threw | machine_offline
   */
  start(session: Session): Promise<void>;
  /** Resolves when no start of this session is under way. */
  settled(sessionId: string): Promise<void>;
}

export function createStarts(options: {
  sessions: SessionStore;
  links: MachineLinks;
  waitMs: number;
}): Starts {
  const { sessions, links, waitMs } = options;
  const underWay = new Map<string, Promise<void>>();

  async function ask(session: Session): Promise<void> {
    const { sessionId, agentId, directory, permissionMode, modelId, title } = session;
    try {
      await links.request(
        session.machineId,
        'session.start',
        {
          sessionId,
          agentId,
          directory,
          permissionMode,
          ...(modelId === undefined ? {} : { modelId }),
          ...(title === undefined ? {} : { title }),
        },
        waitMs,
      );
    } catch (error) {
      const { code, message } = toWireError(error);
      if (code !== 'machine_offline') await sessions.failStart(sessionId, { code, message });
      throw error;
    }
  }

  return {
    waitMs,
    start(session) {
      const running = underWay.get(session.sessionId);
      if (running !== undefined) return running;
      const asked = ask(session).finally(() => underWay.delete(session.sessionId));
      underWay.set(session.sessionId, asked);
      return asked;
    },
    async settled(sessionId) {
      await underWay.get(sessionId)?.catch(() => {});
    },
  };
}

/** The error that a failed session's row tells of. */
export function toStartError(session: Session): KaiwuError {
  const reason = session.reason ?? {
    code: 'agent_failed',
    message: `session ${session.sessionId} did not start.`,
  };
  const code = reason.code in ERRORS ? (reason.code as keyof typeof ERRORS) : 'agent_failed';
  return new KaiwuError(code, reason.message);
}
