import { KaiwuError } from '../../core/errors.ts';
import type { OpenedTransport } from '../connection.ts';
import { EndedAtProbe, type Link, type LinkOptions, openLink } from './open-link.ts';

export interface Connector {
  /** Lets go of what was there, then connects. Several at once are the caller's to prevent. @throws KaiwuError */
  connect(): Promise<Link>;
  /** Lets go of everything; what fails is let go again the next time. */
  close(): Promise<void>;
}

/** Connects to one server, again and again, one way at a time. */
export function createConnector(
  options: () => Omit<LinkOptions, 'isOldOnly'>,
  /** Hears of each start. */
  onStart: () => void,
): Connector {
  /** Those that are not known to be gone. */
  const ways = new Set<OpenedTransport>();
  let isOldOnly = false;

  function once(): Promise<Link> {
    const how = options();
    how.signal.throwIfAborted();
    onStart();
    return openLink({
      ...how,
      isOldOnly,
      onOpened(opened) {
        ways.add(opened);
        how.onOpened(opened);
      },
    });
  }

  async function close(): Promise<void> {
    const ends = await Promise.allSettled(
      [...ways].map(async (way) => {
        await way.close();
        ways.delete(way);
      }),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  return {
    async connect() {
      try {
        await close();
        return await once().catch(async (error: unknown) => {
          if (!(error instanceof EndedAtProbe)) throw error;
          // Programs built on old libraries end at the first question that they do not know.
          isOldOnly = true;
          await close();
          return once();
        });
      } catch (error) {
        // Whoever waits hears of it before the rest of it is gone.
        void close().catch(() => {});
        if (error instanceof KaiwuError) throw error;
        const why = error instanceof Error ? error.message : 'it failed in an unknown way';
        throw new KaiwuError('mcp_server_unavailable', `protocol: ${why}.`);
      }
    },
    close,
  };
}
