import type { FeedEntry } from '../../core/feed.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { BackendLink } from './backend-link.ts';
import { createFollower, type Follower, type FeedType } from './follower.ts';
import type { HostRequests } from './host-requests.ts';
import { RPC, RpcError } from './http/protocol.ts';
import { isRecord } from './messages.ts';
import { delay, type Timing } from './timing.ts';

/** Of all hosts behind one caller together. */
const MAX_SUBSCRIPTIONS = 100;

/** Resources of which hosts want to hear when they change. */
export interface Subscriptions {
  /**
   * From its answer on no change goes unnoticed. Who subscribes twice is told once.
   * @param holder whom to tell
   * @throws RpcError what reading it would be refused with; where it never changes; with too many already
   */
  add(holder: string, uri: string, clientName: string | undefined): Promise<void>;
  /** Without `uri` all of the holder's. Idempotent. */
  drop(holder: string, uri?: string): void;
  close(): void;
}

interface Watched {
  event: string;
  sessionId: string;
  holders: Map<string, string | undefined>;
  timer?: ReturnType<typeof setTimeout>;
}

export function createSubscriptions(options: {
  backend: BackendLink;
  read: HostRequests['read'];
  log: Logger;
  timing: Timing;
  random(): number;
  /** Not more often than `timing.updateMs`, however often it changes. */
  onUpdate(uri: string, holders: ReadonlySet<string>): void;
}): Subscriptions {
  const { timing } = options;
  const watched = new Map<string, Watched>();
  const closed = new AbortController();
  let follower: { it: Follower; up: Promise<void> } | undefined;

  const count = () => [...watched.values()].reduce((sum, { holders }) => sum + holders.size, 0);

  function follow(): Promise<void> {
    if (follower === undefined) {
      let settle: (() => void) | undefined;
      const up = new Promise<void>((resolve) => {
        settle = resolve;
      });
      const onChange = (entry?: FeedEntry) => {
        if (entry !== undefined) return hear(entry);
        // The first time nobody can have missed anything: who subscribes is answered after it.
        if (settle === undefined) for (const uri of watched.keys()) mark(uri);
        settle?.();
        settle = undefined;
      };
      const types: FeedType[] = ['session.changed', 'transcript.appended', 'policy.changed'];
      const it = createFollower({ ...options, types, onChange });
      follower = { it, up };
      it.start();
    }
    return Promise.race([follower.up, delay(timing.listMs)]);
  }

  function hear(entry: FeedEntry): void {
    if (entry.type === 'policy.changed') return void recheck();
    for (const [uri, { event, sessionId }] of watched) {
      if (event === entry.type && 'sessionId' in entry && entry.sessionId === sessionId) mark(uri);
    }
  }

  function mark(uri: string): void {
    const of = watched.get(uri);
    if (of === undefined || of.timer !== undefined) return;
    of.timer = setTimeout(() => {
      delete of.timer;
      options.onUpdate(uri, new Set(of.holders.keys()));
    }, timing.updateMs).unref();
  }

  /** What may no longer be read is no longer told of. */
  async function recheck(): Promise<void> {
    for (const [uri, { holders }] of watched) {
      const [clientName] = holders.values();
      const refused = await look(uri, clientName).then(
        () => false,
        (error: unknown) => error instanceof RpcError && error.data?.['retryable'] !== true,
      );
      if (refused) forget(uri);
    }
  }

  async function look(uri: string, clientName: string | undefined) {
    const { signal } = closed;
    const { changes } = await options.read({ method: 'resources/read', params: { uri }, clientName, signal });
    if (isRecord(changes))
      return { event: String(changes['event']), sessionId: String(changes['sessionId']) };
    throw new RpcError(RPC.invalidParams, 'Only sessions and their transcripts can be subscribed to.');
  }

  function forget(uri: string): void {
    clearTimeout(watched.get(uri)?.timer);
    watched.delete(uri);
    if (watched.size > 0) return;
    follower?.it.close();
    follower = undefined;
  }

  return {
    async add(holder, uri, clientName) {
      if (watched.get(uri)?.holders.has(holder)) return;
      // Whoever has not been there yet is looked at, on behalf of each holder anew: the caller is the same.
      const source = await look(uri, clientName);
      if (count() >= MAX_SUBSCRIPTIONS) {
        throw new RpcError(RPC.refused, `${MAX_SUBSCRIPTIONS} resources are subscribed to already`);
      }
      const of = watched.get(uri) ?? { ...source, holders: new Map() };
      of.holders.set(holder, clientName);
      watched.set(uri, of);
      await follow();
    },
    drop(holder, uri) {
      for (const [each, { holders }] of watched) {
        if (uri !== undefined && uri !== each) continue;
        holders.delete(holder);
        if (holders.size === 0) forget(each);
      }
    },
    close() {
      closed.abort();
      for (const uri of watched.keys()) forget(uri);
    },
  };
}
