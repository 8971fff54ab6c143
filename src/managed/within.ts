import { KaiwuError } from '../core/errors.ts';

/** @throws canceled when `signal` aborts first */
export function within<T>(work: Promise<T>, signal: AbortSignal, message: string): Promise<T> {
  if (signal.aborted) return Promise.reject(new KaiwuError('canceled', message));
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(new KaiwuError('canceled', message));
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
