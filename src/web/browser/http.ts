import { PAGE_HEADER } from '../../core/pages.ts';
import { kept } from './host.ts';

/** The half of the sign-in that the page keeps; the other is in a cookie that it cannot read. */
export const pageKey = {
  get: () => kept.get('pageKey'),
  set: (key: string | undefined) => kept.set('pageKey', key),
  onChange: (listener: (key: string | undefined) => void) => kept.onChange('pageKey', listener),
};

const ownHeaders = (): Record<string, string> => {
  const key = pageKey.get();
  return key === undefined ? {} : { [PAGE_HEADER]: key };
};

export interface Answer {
  status: number;
  /** Undefined where the answer is not JSON. */
  body: unknown;
}

/** Asks this page's own server; a server that does not answer is `undefined`. */
export async function ask(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  options: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Answer | undefined> {
  try {
    const response = await fetch(path, {
      method,
      headers: {
        ...ownHeaders(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      redirect: 'error',
    });
    return { status: response.status, body: await response.json().catch(() => undefined) };
  } catch {
    return undefined;
  }
}

/** Opens a stream of text. @returns its pieces, or the status that it was refused with */
export async function open(
  path: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<ReadableStreamDefaultReader<string> | number> {
  const response = await fetch(path, { headers: { ...ownHeaders(), ...headers }, signal, redirect: 'error' });
  if (response.status !== 200 || response.body === null) return response.status;
  return response.body.pipeThrough(new TextDecoderStream()).getReader();
}

/** A body as it comes, and its length; the status where there is none. @throws without a connection, or aborted */
export async function openBytes(
  path: string,
  signal: AbortSignal,
): Promise<{ stream: ReadableStream<Uint8Array>; bytes: number } | number> {
  const response = await fetch(path, { headers: ownHeaders(), redirect: 'error', signal });
  if (response.status !== 200 || response.body === null) return response.status;
  return { stream: response.body, bytes: Number(response.headers.get('content-length') ?? 0) };
}
