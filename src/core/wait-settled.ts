import type { Approval } from './approval.ts';
import { isSettled } from './approval.ts';
import { KaiwuError } from './errors.ts';

/** Waits until an approval is decided and carried out, or the time is over. Listens before it reads, so nothing slips by. */
export async function waitSettled(options: {
  artifactId: string;
  seconds: number;
  signal: AbortSignal;
  load(artifactId: string): Promise<Approval>;
  onChange(listener: (artifactId: string) => void): () => void;
}): Promise<Approval> {
  const { artifactId, seconds, signal, load } = options;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), seconds * 1000);
  const finish = () => over.abort();
  const unsubscribe = options.onChange((changed) => {
    if (changed === artifactId)
      void load(artifactId).then((now) => isSettled(now.status) && finish(), finish);
  });
  signal.addEventListener('abort', finish);
  try {
    const first = await load(artifactId);
    if (!isSettled(first.status) && !signal.aborted) await aborted(over.signal);
    if (signal.aborted) throw new KaiwuError('canceled', `The wait for approval ${artifactId} was canceled.`);
    return await load(artifactId);
  } finally {
    clearTimeout(timer);
    unsubscribe();
    signal.removeEventListener('abort', finish);
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
