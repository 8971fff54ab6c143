import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { HostSide } from '../host-side.ts';
import { isRecord, type RequestId, type WireMessage } from '../messages.ts';
import { type MessageStream, openStream } from './exchange.ts';
import {
  clientNameOf,
  requireUri,
  RPC,
  RpcError,
  toAcknowledged,
  toListChanged,
  toUpdated,
} from './protocol.ts';

/** A stream that stays open, and what is told on it. */
interface Watching {
  tools: boolean;
  /** Whose subscriptions are told on it. */
  holder: string | undefined;
  /** In the stateless generation each notice names the request that asked for it. */
  id?: RequestId;
}

/** The hosts of one door that wait for changes. */
export interface Watchers {
  /** A host that shook hands listens: to the list of tools, and to what it subscribes to. */
  open(label: string | undefined, response: ServerResponse): void;
  /** @throws RpcError */
  listen(message: WireMessage, id: RequestId, response: ServerResponse): Promise<void>;
  /** @throws RpcError */
  subscribe(label: string | undefined, uri: unknown, clientName: string | undefined): Promise<void>;
  /** @throws RpcError */
  unsubscribe(label: string | undefined, uri: unknown): void;
  forget(label: string): void;
  toolsChanged(): void;
  close(): void;
}

export function createWatchers(host: HostSide, maxStreams: number): Watchers {
  const streams = new Map<MessageStream, Watching>();
  const subscriptions = host.subscribe((uri, holders) => {
    for (const [stream, { holder, id }] of streams) {
      if (holder !== undefined && holders.has(holder)) stream.send(toUpdated(uri, id));
    }
  });

  function requireRoom(): void {
    if (streams.size < maxStreams) return;
    throw new RpcError(RPC.refused, `${maxStreams} streams are open already`, 429);
  }

  function follow(response: ServerResponse, watching: Watching): MessageStream {
    const stream = openStream(response);
    streams.set(stream, watching);
    response.once('close', () => streams.delete(stream));
    return stream;
  }

  return {
    open(label, response) {
      requireRoom();
      follow(response, { tools: true, holder: label });
    },
    async listen(message, id, response) {
      const wanted = message.params?.['notifications'];
      if (!isRecord(wanted)) {
        throw new RpcError(RPC.invalidParams, 'subscriptions/listen takes notifications');
      }
      requireRoom();
      const holder = randomUUID();
      response.once('close', () => subscriptions.drop(holder));
      const tools = wanted['toolsListChanged'] === true;
      const uris = Array.isArray(wanted['resourceSubscriptions']) ? wanted['resourceSubscriptions'] : [];
      const add = async (uri: string) => {
        await subscriptions.add(holder, uri, clientNameOf(message));
        return [uri];
      };
      const admitted = await Promise.all(uris.map((uri) => add(String(uri)).catch(() => [])));
      const resourceSubscriptions = admitted.flat();
      // The host may have gone, and others may have come, while the addresses were looked at.
      if (response.destroyed) return subscriptions.drop(holder);
      if (streams.size >= maxStreams) subscriptions.drop(holder);
      requireRoom();
      const acknowledged = {
        ...(tools ? { toolsListChanged: true } : {}),
        ...(resourceSubscriptions.length === 0 ? {} : { resourceSubscriptions }),
      };
      follow(response, { tools, holder, id }).send(toAcknowledged(id, acknowledged));
    },
    async subscribe(label, uri, clientName) {
      await subscriptions.add(requireLabel(label), requireUri(uri), clientName);
    },
    unsubscribe: (label, uri) => subscriptions.drop(requireLabel(label), requireUri(uri)),
    forget: (label) => subscriptions.drop(label),
    toolsChanged() {
      for (const [stream, { tools, id }] of streams) if (tools) stream.send(toListChanged(id));
    },
    close: () => subscriptions.close(),
  };
}

function requireLabel(label: string | undefined): string {
  if (label !== undefined) return label;
  throw new RpcError(RPC.invalidRequest, 'only a host that shook hands can subscribe: send initialize first');
}
