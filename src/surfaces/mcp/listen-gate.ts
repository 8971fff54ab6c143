import { RPC } from './http/protocol.ts';
import { isRecord, type WireMessage } from './messages.ts';
import type { Wire } from './wire.ts';

/** The SDK's side of the wire. */
export type GatedWire = Pick<Wire, 'start' | 'send' | 'close' | 'onmessage' | 'onclose' | 'onerror'>;

/**
 * The SDK answers some requests by itself, so what it is told and what it says is mended on the way. Addresses that a host
 * listens to are cut down to those that it may read, and so the SDK acknowledges no others. And an address that leads nowhere
 * gets the code that generations with a handshake have for it, which the SDK takes from all.
 */
export function createGatedWire(
  wire: Wire,
  options: {
    /** Answers those of the addresses that `holder` now follows. */
    admit(holder: string, uris: string[], message: WireMessage): Promise<string[]>;
    drop(holder: string): void;
    isStateless(): boolean;
  },
): GatedWire {
  /** Listening that is being looked at; `false` once the host no longer wants it. */
  const pending = new Map<string, boolean>();

  async function listen(message: WireMessage, notifications: Record<string, unknown>, uris: string[]) {
    const holder = toHolder(message.id);
    pending.set(holder, true);
    const resourceSubscriptions = await options.admit(holder, uris, message);
    const wanted = pending.get(holder);
    pending.delete(holder);
    if (wanted === false) return options.drop(holder);
    const params = { ...message.params, notifications: { ...notifications, resourceSubscriptions } };
    gated.onmessage?.({ ...message, params });
  }

  function receive(message: WireMessage): void {
    if (message.method === 'notifications/cancelled') {
      const holder = toHolder(message.params?.['requestId']);
      if (pending.has(holder)) return void pending.set(holder, false);
      options.drop(holder);
    }
    const notifications = message.method === 'subscriptions/listen' && message.params?.['notifications'];
    const uris = isRecord(notifications) ? notifications['resourceSubscriptions'] : undefined;
    if (isRecord(notifications) && Array.isArray(uris) && uris.every((uri) => typeof uri === 'string')) {
      return void listen(message, notifications, uris);
    }
    gated.onmessage?.(message);
  }

  const gated: GatedWire = {
    start() {
      const onclose = () => gated.onclose?.();
      Object.assign(wire, { onmessage: receive, onclose });
      return wire.start();
    },
    send: (message) => wire.send(options.isStateless() ? message : withOlderCode(message)),
    close: () => wire.close(),
  };
  return gated;
}

const toHolder = (id: unknown): string => JSON.stringify(id) ?? '';

function withOlderCode(message: Parameters<Wire['send']>[0]): Parameters<Wire['send']>[0] {
  const { error } = message as { error?: { code: number; message: string; data?: unknown } };
  const { data } = error ?? {};
  const isNotThere =
    error?.code === RPC.invalidParams && isRecord(data) && Object.keys(data).join() === 'uri';
  return isNotThere ? { ...message, error: { ...error, code: RPC.resourceNotFound } } : message;
}
