import { setTimeout as delay } from 'node:timers/promises';
import { ERRORS, KaiwuError, toWireError } from '../../core/errors.ts';
import type { MessagesPort } from '../../core/ports/sessions.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { isFinal, type Message } from '../../core/session.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import { sessionArchived } from '../store/session-rows.ts';
import type { BackendStore } from '../store/store.ts';
import { watch } from '../watch.ts';
import type { Deliveries, QueuedMessage } from '../work/deliveries.ts';
import { refuseRaise } from './escalation.ts';
import { refuseFreerHelp, toTreeLimit } from './lineage.ts';
import { toOfflineError } from './machines-of.ts';

/** Milliseconds that `send` waits for the delivery before it answers `queued`. */
const DELIVERY_PATIENCE_MS = 10_000;

const AT_REST = new Set(['idle', 'stopped', 'failed']);

export function createMessages(options: {
  store: BackendStore;
  links: MachineLinks;
  deliveries: Deliveries;
  runtime: Pick<Runtime, 'newId'>;
}): MessagesPort {
  const { store, links, deliveries, runtime } = options;

  async function read(messageId: string): Promise<Message> {
    const message = await store.messages.get(messageId);
    if (message !== undefined) return message;
    throw new KaiwuError('not_found', `No message ${JSON.stringify(messageId.slice(0, 80))} is known.`);
  }

  /** Into the running turn, past what waits. What the daemon refuses for good is as if it had never been sent. */
  async function steer(message: QueuedMessage): Promise<Message> {
    const { messageId, sessionId } = message;
    try {
      await deliveries.hand(message);
    } catch (error) {
      const { code } = toWireError(error);
      if (!ERRORS[code].retryable && code !== 'internal') {
        await store.messages.withdraw(messageId);
        throw error;
      }
      // It may be there or not; the same id once more settles that.
      if (code !== 'machine_offline') void deliveries.deliver(sessionId);
    }
    return read(messageId);
  }

  return {
    async send(request, caller) {
      const { sessionId, text, permissionModeOverride, modelOverride, delivery } = request;
      const session = await store.sessions.get(sessionId);
      refuseRaise(caller, permissionModeOverride, session.permissionMode, sessionId);
      // One that steers has the mode of the turn that it reaches.
      const reached = delivery === 'steer' ? await store.messages.runningMode(sessionId) : undefined;
      for (const mode of [reached, permissionModeOverride ?? session.permissionMode])
        if (mode !== undefined) await refuseFreerHelp(store, caller, sessionId, mode);
      const { maxAtWork } = toTreeLimit(caller);
      const rests = session.status === 'stopped' || session.status === 'failed';
      if (rests && maxAtWork !== undefined) await store.sessions.requireRoom(sessionId, maxAtWork);
      const messageId = request.messageId ?? runtime.newId('msg');
      // Sent again after an archive, a known message is still the answer.
      if (session.archivedAt !== undefined && (await store.messages.get(messageId)) === undefined) {
        throw sessionArchived(sessionId, session.archivedAt);
      }
      const overrides = {
        ...(permissionModeOverride === undefined ? {} : { permissionMode: permissionModeOverride }),
        ...(modelOverride === undefined ? {} : { modelId: modelOverride }),
        ...(delivery === undefined || delivery === 'queue' ? {} : { delivery }),
      };
      if (delivery === 'steer') {
        if (!links.isLinked(session.machineId))
          throw await toOfflineError(store.machines, session.machineId, caller);
        const message = await store.messages.insert({ messageId, sessionId, text, overrides });
        return message.status === 'queued' ? steer({ ...message, overrides }) : message;
      }
      await store.messages.insert({ messageId, sessionId, text, overrides });
      const patience = new AbortController();
      await Promise.race([
        deliveries.deliver(sessionId),
        delay(DELIVERY_PATIENCE_MS, undefined, { signal: patience.signal }).catch(() => {}),
      ]);
      patience.abort();
      return read(messageId);
    },

    wait: ({ messageId, sessionId, delivery }, seconds, signal) =>
      watch(
        store.feed,
        {
          concerns: (entry) =>
            (entry.type === 'message.changed' && entry.messageId === messageId) ||
            (entry.type === 'session.changed' && entry.sessionId === sessionId),
          async read() {
            const message = await read(messageId);
            const isHeld =
              !isFinal(message.status) && (delivery !== 'interrupt' || message.status === 'running');
            const session = isHeld ? await store.sessions.get(sessionId) : undefined;
            return session?.status === 'waiting' ? { message, asking: session } : { message };
          },
          done: ({ message, asking }) => isFinal(message.status) || asking !== undefined,
        },
        seconds,
        signal,
      ),

    waitIdle: (sessionId, seconds, signal) =>
      watch(
        store.feed,
        {
          concerns: (entry) =>
            (entry.type === 'session.changed' || entry.type === 'message.changed') &&
            entry.sessionId === sessionId,
          async read() {
            const session = await store.sessions.get(sessionId);
            const idle = AT_REST.has(session.status) && !(await store.messages.hasOpen(sessionId));
            return { session, idle };
          },
          done: ({ idle }) => idle,
        },
        seconds,
        signal,
      ),
  };
}
