import { ERRORS, KaiwuError, toWireError } from '../../core/errors.ts';
import { START_LIMIT_MS, START_SLACK_MS } from '../../core/link.ts';
import type { FailureReason, Session } from '../../core/session.ts';
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
   * @param environment kept in memory until the start is answered, and nowhere else
   */
  start(session: Session, environment?: Record<string, string>): Promise<void>;
  /** Resolves when no start of this session is under way. */
  settled(sessionId: string): Promise<void>;
  /** Forgets the values that a start was given which will not be asked for again. */
  forget(sessionId: string): void;
}

export function createStarts(options: {
  sessions: SessionStore;
  links: MachineLinks;
  waitMs: number;
}): Starts {
  const { sessions, links, waitMs } = options;
  const underWay = new Map<string, Promise<void>>();
  const environments = new Map<string, Record<string, string>>();

  async function ask(session: Session): Promise<void> {
    const { sessionId, agentId, directory, permissionMode, modelId, title, forkedFrom } = session;
    try {
      const environment = environments.get(sessionId);
      if (environment === undefined && session.environmentNames !== undefined) throw valuesLost(session);
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
          ...(session.additionalDirectories === undefined
            ? {}
            : { additionalDirectories: session.additionalDirectories }),
          ...(session.mcpServers === undefined ? {} : { mcpServers: session.mcpServers }),
          ...(await sessions.startOptionsOf(sessionId)),
          ...(environment === undefined ? {} : { environment }),
          ...(forkedFrom === undefined ? {} : { forkOf: forkedFrom.sessionId }),
        },
        waitMs,
      );
      environments.delete(sessionId);
    } catch (error) {
      const reason = toReason(error);
      if (reason.code !== 'machine_offline') {
        environments.delete(sessionId);
        await sessions.failStart(sessionId, reason);
      }
      throw error;
    }
  }

  return {
    waitMs,
    start(session, environment) {
      const { sessionId } = session;
      const running = underWay.get(sessionId);
      if (running !== undefined) return running;
      if (environment !== undefined) environments.set(sessionId, environment);
      const asked = ask(session).finally(() => underWay.delete(sessionId));
      underWay.set(sessionId, asked);
      return asked;
    },
    async settled(sessionId) {
      await underWay.get(sessionId)?.catch(() => {});
    },
    forget(sessionId) {
      environments.delete(sessionId);
    },
  };
}

/** An error as it is kept with what it ended. */
export function toReason(error: unknown): FailureReason {
  const { code, message, hint } = toWireError(error);
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}

const valuesLost = ({ sessionId, environmentNames = [] }: Session) =>
  new KaiwuError(
    'canceled',
    `Session ${sessionId} was not started: the backend restarted before its machine had the values of ${environmentNames.join(', ')}, which are stored nowhere.`,
    { hint: 'Start a new session with the same environment.' },
  );

/** The error that a failed session's row tells of. */
export function toStartError(session: Session): KaiwuError {
  const reason: FailureReason = session.reason ?? {
    code: 'agent_failed',
    message: `session ${session.sessionId} did not start.`,
  };
  const code = reason.code in ERRORS ? (reason.code as keyof typeof ERRORS) : 'agent_failed';
  return new KaiwuError(code, reason.message, { hint: reason.hint });
}
