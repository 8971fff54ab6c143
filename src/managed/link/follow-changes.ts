import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';

/** Milliseconds. */
const SHORTEST = 1000;
const LONGEST = 5 * 60_000;
const ACK_MS = 30_000;

/** The newer generation tells of changes only to who has subscribed. Subscribes, and again where that ends. Returns its end. */
export function followChanges(client: Client, gone: Promise<void>, onChanged: () => void): () => void {
  const end = new AbortController();
  void gone.then(() => end.abort());
  void (async () => {
    for (let pause = SHORTEST; !end.signal.aborted; pause = Math.min(LONGEST, 2 * pause)) {
      try {
        const subscription = await client.listen(
          { toolsListChanged: true },
          { timeout: ACK_MS, signal: end.signal },
        );
        await Promise.race([subscription.closed, gone]);
        await sleep(pause, undefined, { signal: end.signal, ref: false });
        // What changed in between was not told.
        onChanged();
      } catch {
        await sleep(LONGEST, undefined, { signal: end.signal, ref: false }).catch(() => {});
      }
    }
  })();
  return () => end.abort();
}
