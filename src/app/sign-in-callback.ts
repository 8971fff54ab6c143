import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { KaiwuError } from '../core/errors.ts';

/** What a browser comes back with after a sign-in. */
export interface Returned {
  state: string;
  code?: string;
  error?: string;
  iss?: string;
}

export interface Callback {
  /** Where the browser is to come back to. */
  redirectUri: string;
  /**
   * Waits for the browser with this state; one with another is turned away, and goes on being waited for.
   * @throws timeout | canceled
   */
  wait(state: string, options: { timeoutMs: number; signal: AbortSignal }): Promise<Returned>;
  /** Tells the person at the browser how it went, and ends. Idempotent. */
  end(outcome?: string): Promise<void>;
}

/** Longest value that is taken from an address, characters. */
const MAX_VALUE = 4096;

/** Listens on this machine for one browser that comes back from a sign-in (RFC 8252, section 7.3), at an address good once. */
export async function listenForSignIn(): Promise<Callback> {
  const path = `/sign-in/${randomUUID()}`;
  let expected: string | undefined;
  let take: ((returned: Returned) => void) | undefined;
  let browser: ServerResponse | undefined;
  const server = createServer({ maxHeaderSize: 16 * 1024 }, (request, response) => {
    const returned = read(request, origin, path);
    if (browser !== undefined || take === undefined || returned === undefined)
      return say(response, 404, GONE);
    if (returned.state !== expected) return say(response, 400, OTHER);
    browser = response;
    take(returned);
  });
  server.requestTimeout = 10_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const origin = `http://127.0.0.1:${port}`;
  return {
    redirectUri: `${origin}${path}`,
    wait: (state, { timeoutMs, signal }) =>
      new Promise((resolve, reject) => {
        expected = state;
        const stop = (error: KaiwuError) => {
          settle();
          reject(error);
        };
        const onAbort = () => stop(new KaiwuError('canceled', 'The sign-in was canceled.'));
        const timer = setTimeout(() => stop(tooLate(timeoutMs)), timeoutMs);
        const settle = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          take = undefined;
        };
        take = (returned) => {
          settle();
          resolve(returned);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) onAbort();
      }),
    async end(outcome = 'The sign-in was not completed.') {
      if (browser !== undefined && !browser.writableEnded) {
        const left = once(browser, 'close');
        say(browser, 200, outcome);
        await left;
      }
      server.close();
      server.closeAllConnections();
    },
  };
}

function read(request: IncomingMessage, origin: string, path: string): Returned | undefined {
  const { method, headers, url = '' } = request;
  // A page of another name that leads here (DNS rebinding) is no browser that comes back.
  if (method !== 'GET' || `http://${headers.host}` !== origin) return undefined;
  if (!URL.canParse(url, origin)) return undefined;
  const { pathname, searchParams } = new URL(url, origin);
  const state = searchParams.get('state') ?? '';
  if (pathname !== path || state === '' || state.length > MAX_VALUE) return undefined;
  const value = <K extends string>(name: K): { [P in K]?: string } => {
    const text = searchParams.get(name);
    const known = text === null || text === '' || text.length > MAX_VALUE ? {} : { [name]: text };
    return known as { [P in K]?: string };
  };
  const returned = { state, ...value('code'), ...value('error'), ...value('iss') };
  return returned.code === undefined && returned.error === undefined ? undefined : returned;
}

const GONE = 'Nothing is waited for here.';
const OTHER = 'This is the answer to another sign-in. Go back and open the newest link.';

function say(response: ServerResponse, status: number, text: string): void {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      connection: 'close',
    })
    .end(`<!doctype html><meta charset="utf-8"><title>Kaiwu</title><h1>Kaiwu</h1><p>${safe}</p>`);
}

const tooLate = (timeoutMs: number): KaiwuError =>
  new KaiwuError('timeout', `Nobody came back from the sign-in within ${Math.round(timeoutMs / 1000)} s.`, {
    hint: 'Run it again; --timeout-seconds waits longer, and --no-open prints the link.',
  });
