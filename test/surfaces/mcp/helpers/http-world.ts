import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach } from 'vitest';
import { createBackendClient } from '../../../../src/client/backend-client.ts';
import { createBackendLink } from '../../../../src/surfaces/mcp/backend-link.ts';
import type { DoorLimits } from '../../../../src/surfaces/mcp/http/door.ts';
import { createHostSide } from '../../../../src/surfaces/mcp/host-side.ts';
import { type McpHttp, startMcpHttp } from '../../../../src/surfaces/mcp/http/server.ts';
import { TIMING, type Timing } from '../../../../src/surfaces/mcp/timing.ts';
import { createToolCalls } from '../../../../src/surfaces/mcp/tool-calls.ts';
import { createToolList } from '../../../../src/surfaces/mcp/tool-list.ts';
import { type FakeBackend, startFakeBackend, TOKEN } from './fake-backend.ts';
import { MANIFESTS } from './manifests.ts';

export interface HttpWorld {
  backend: FakeBackend;
  http: McpHttp;
  bearer: string;
  /** What was logged as an error. */
  errors: unknown[];
  /** Closes the door of `bearer`. */
  shut(): void;
  /** Another door; answers its bearer. */
  open(): string;
  /** A request as it is, with what the headers say in place of the usual ones; `undefined` leaves one out. */
  raw(body: unknown, headers?: Record<string, string | undefined>, method?: string): Promise<RawAnswer>;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what it holds is what the test is about
  json: any;
}

let cleanups: (() => unknown)[] = [];
afterEach(async () => {
  const undo = cleanups.toReversed();
  cleanups = [];
  for (const cleanup of undo) await cleanup();
});

export const onEnd = (cleanup: () => unknown): void => void cleanups.push(cleanup);

/** The server over HTTP with its tools, over a fake backend on the other side of a real socket. */
export async function startHttpWorld(
  options: { limits?: Partial<DoorLimits>; timing?: Partial<Timing> } = {},
): Promise<HttpWorld> {
  const backend = await startFakeBackend(MANIFESTS);
  onEnd(() => backend.stop());
  const errors: unknown[] = [];
  const none = () => undefined;
  const log = { debug: none, info: none, warn: none, error: (fields: unknown) => void errors.push(fields) };
  const timing = { ...TIMING, ...options.timing };
  const client = createBackendClient({
    url: backend.url,
    token: TOKEN,
    version: '0.0.0',
    random: Math.random,
  });
  const tools = createToolList({
    surface: 'mcp',
    backend: createBackendLink(async () => client),
    builtin: async () => MANIFESTS,
    version: '0.0.0',
    cache: { read: async () => undefined, write: async () => undefined },
    log,
    timing,
    random: Math.random,
    onChange: () => http.toolsChanged(),
  });
  onEnd(() => tools.close());
  const http = await startMcpHttp({
    info: { version: '0.0.0', instructions: 'Test.' },
    log,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  onEnd(() => http.close());

  function openDoor(): { bearer: string; shut: () => void } {
    const link = createBackendLink(async () => client);
    const calls = createToolCalls({
      backend: link,
      context: { surface: 'mcp' },
      timing,
      onReached: () => tools.reached(),
    });
    const bearer = randomBytes(32).toString('base64url');
    const host = createHostSide({
      backend: link,
      calls,
      builtin: async () => MANIFESTS,
      builtinAnswers: async () => ({}),
      log,
      timing,
      random: Math.random,
    });
    const handlers = { listTools: () => tools.list(), callTool: calls.call, host };
    return { bearer, shut: http.open(bearer, handlers) };
  }
  const { bearer, shut } = openDoor();

  return {
    backend,
    http,
    bearer,
    errors,
    shut,
    open: () => openDoor().bearer,
    raw(body, headers = {}, method = 'POST') {
      const all = {
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      };
      const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return new Promise((resolve, reject) => {
        const request = requestHttp(http.url, { method, headers: given }, (response) => {
          text(response).then((answer) => resolve(toRaw(response, answer)), reject);
        });
        request.once('error', reject);
        request.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
    },
  };
}

function toRaw({ statusCode = 0, headers }: IncomingMessage, answer: string): RawAnswer {
  try {
    return { status: statusCode, headers, text: answer, json: JSON.parse(answer) };
  } catch {
    return { status: statusCode, headers, text: answer, json: undefined };
  }
}
