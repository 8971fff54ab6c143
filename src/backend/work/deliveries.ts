import { ERRORS, toWireError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Message, Session } from '../../core/session.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { BackendStore, MessageOverrides } from '../store/store.ts';
import { createSlots } from './slots.ts';
import { type Starts, toReason } from './starts.ts';

/** Milliseconds for a daemon to put a message on its disk. */
const DELIVER_TIMEOUT_MS = 30_000;

/** Milliseconds before a delivery that failed for a passing reason is tried again on the same link; doubles. */
const RETRY_MS = 5000;
const RETRY_MAX_MS = 5 * 60_000;

/** Sessions of one machine whose messages are on their way at once: a long backlog must not fill the link. */
const SESSIONS_AT_ONCE = 4;

/** Hands stored messages to daemons: one chain a session, so their order holds. */
export interface Deliveries {
  /** Delivers what is queued. Resolves when nothing is left, or when the rest has to wait for the machine. */
  deliver(sessionId: string): Promise<void>;
  /**
   * Hands one over at once, past those that wait. One whose link drops meanwhile stays queued and follows when it is back.
   * @throws what the daemon threw
   */
  hand(message: QueuedMessage): Promise<void>;
  /** Stops retrying and waits for what is under way. */
  close(): Promise<void>;
}

export type QueuedMessage = Message & { overrides: MessageOverrides };

export function createDeliveries(options: {
  store: Pick<BackendStore, 'messages' | 'sessions'>;
  links: MachineLinks;
  starts: Starts;
  log: Logger;
}): Deliveries {
  const { store, links, starts, log } = options;
  const slots = createSlots(SESSIONS_AT_ONCE);
  const chains = new Map<string, { again: boolean; done: Promise<void> }>();
  const retries = new Map<string, { waitMs: number; timer: ReturnType<typeof setTimeout> }>();
  const closing = new AbortController();

  function deliver(sessionId: string): Promise<void> {
    const current = chains.get(sessionId);
    if (current !== undefined) {
      current.again = true;
      return current.done;
    }
    if (closing.signal.aborted) return Promise.resolve();
    clearTimeout(retries.get(sessionId)?.timer);
    const chain = { again: false, done: Promise.resolve() };
    chains.set(sessionId, chain);
    chain.done = run(sessionId, chain);
    return chain.done;
  }

  async function run(sessionId: string, chain: { again: boolean }): Promise<void> {
    do {
      chain.again = false;
      await pass(sessionId).catch((error) => log.error({ sessionId, error }, 'delivery failed'));
    } while (chain.again && !closing.signal.aborted);
    // In the same turn as the last look at `again`: a call that comes later begins a chain of its own.
    chains.delete(sessionId);
  }

  async function pass(sessionId: string): Promise<void> {
    const { machineId } = await store.sessions.get(sessionId);
    await starts.settled(sessionId);
    await slots.run(machineId, async () => {
      if (closing.signal.aborted || !links.isLinked(machineId)) return;
      for (const message of await store.messages.undelivered(sessionId)) {
        // A stop may have canceled it while the ones before it were on their way.
        if ((await store.messages.get(message.messageId))?.status !== 'queued') continue;
        if (!(await deliverOne(await store.sessions.get(sessionId), message))) return;
      }
    });
  }

  /** Whether the next one may follow. */
  async function deliverOne(session: Session, message: QueuedMessage): Promise<boolean> {
    try {
      await hand(session, message);
      await store.messages.markDelivered(message.messageId);
      retries.delete(session.sessionId);
      return true;
    } catch (error) {
      const wire = toWireError(error);
      // The link's return delivers it again.
      if (wire.code === 'machine_offline') return false;
      log.warn({ messageId: message.messageId, code: wire.code, reason: wire.message }, 'message not taken');
      if (ERRORS[wire.code].retryable || wire.code === 'internal') {
        retryLater(session.sessionId);
        return false;
      }
      await refuse(message, error);
      return true;
    }
  }

  async function hand(session: Session, message: QueuedMessage): Promise<void> {
    const { permissionMode, modelId, delivery } = message.overrides;
    const params = {
      sessionId: session.sessionId,
      messageId: message.messageId,
      text: message.text,
      ...(permissionMode === undefined ? {} : { permissionModeOverride: permissionMode }),
      ...(modelId === undefined ? {} : { modelOverride: modelId }),
      ...(delivery === undefined ? {} : { delivery }),
    };
    const ask = () => links.request(session.machineId, 'session.deliver', params, DELIVER_TIMEOUT_MS);
    try {
      await ask();
    } catch (error) {
      // A session that never got as far as its first event can be started afresh; any other has a history there.
      if (toWireError(error).code !== 'session_not_found' || session.lastSeq > 0) throw error;
      await starts.start(session);
      await ask();
    }
  }

  const refuse = (message: QueuedMessage, error: unknown) =>
    store.messages.cancelUndelivered(message.sessionId, toReason(error), [message.messageId]);

  function retryLater(sessionId: string): void {
    if (closing.signal.aborted) return;
    const before = retries.get(sessionId);
    clearTimeout(before?.timer);
    const waitMs = Math.min((before?.waitMs ?? RETRY_MS / 2) * 2, RETRY_MAX_MS);
    retries.set(sessionId, { waitMs, timer: setTimeout(() => void deliver(sessionId), waitMs) });
  }

  return {
    deliver,
    async hand(message) {
      await starts.settled(message.sessionId);
      await hand(await store.sessions.get(message.sessionId), message);
      await store.messages.markDelivered(message.messageId);
    },
    async close() {
      closing.abort();
      for (const { timer } of retries.values()) clearTimeout(timer);
      await Promise.all([...chains.values()].map((chain) => chain.done));
    },
  };
}
