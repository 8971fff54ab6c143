import { toWireError } from '../../core/errors.ts';
import type { DaemonMethods } from '../../core/link.ts';
import type { Session } from '../../core/session.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { SessionStore } from '../store/store.ts';
import type { Starts } from './starts.ts';

/** Milliseconds for a daemon to end an agent and to remove a worktree. */
const ARCHIVE_TIMEOUT_MS = 60_000;

const LATER = 'It is told when it links again.';

export interface Told {
  worktree: DaemonMethods['session.archive']['result']['worktree'] | 'later';
  reason?: string;
}

/** Tells machines of sessions that were archived. */
export interface Archives {
  /** `later`: the machine is away or does not answer, and is told when it links again. */
  tell(session: Session): Promise<Told>;
}

export function createArchives(options: {
  sessions: SessionStore;
  links: MachineLinks;
  starts: Pick<Starts, 'forget'>;
}): Archives {
  const { sessions, links, starts } = options;

  async function ask({ sessionId, machineId }: Session): Promise<Told> {
    try {
      return await links.request(machineId, 'session.archive', { sessionId }, ARCHIVE_TIMEOUT_MS);
    } catch (error) {
      const { code, message } = toWireError(error);
      const isPassing = code === 'machine_offline' || code === 'timeout' || code === 'internal';
      if (isPassing) return { worktree: 'later', reason: `${message} ${LATER}` };
      // It holds nothing of a session that never got as far as the machine.
      if (code === 'session_not_found') return { worktree: 'none' };
      // A daemon that knows no archiving knows no worktrees either.
      if (code === 'daemon_too_old') return { worktree: 'none', reason: message };
      return { worktree: 'kept', reason: message };
    }
  }

  return {
    async tell(session) {
      starts.forget(session.sessionId);
      if (!links.isLinked(session.machineId))
        return { worktree: 'later', reason: `Its machine is not linked. ${LATER}` };
      const { worktree, ...rest } = await ask(session);
      if (worktree !== 'later') await sessions.markArchiveTold(session.sessionId, worktree);
      return { worktree, ...rest };
    },
  };
}
