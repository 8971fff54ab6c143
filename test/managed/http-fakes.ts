import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { managedNetworkOf } from '../../src/app/managed-network.ts';
import type { ServerConfig } from '../../src/core/managed/config.ts';
import type { OAuthVault } from '../../src/core/managed/managed.ts';
import type { ConnectionDeps } from '../../src/managed/connection.ts';
import { toOwnError } from '../../src/managed/http/explain.ts';
import { openHttp } from '../../src/managed/http/open-http.ts';

export interface Message {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
}

/** One request as a fake server sees it. */
export interface Seen {
  http: IncomingMessage;
  response: ServerResponse;
  /** Undefined for GET and DELETE. */
  message: Message | undefined;
}

export interface FakeMcp {
  url: string;
  /** Every request, in order: `POST tools/call`, `GET`, `DELETE`. */
  log: string[];
  seen: Seen[];
  /** Sessions that are good. */
  sessions: Set<string>;
  close(): Promise<void>;
}

export interface FakeOptions {
  host?: string;
  port?: number;
  tls?: { key: string; cert: string };
  /** Default true. */
  hasSessions?: boolean;
  /** Takes a request over: true when it has. */
  instead?(seen: Seen, server: FakeMcp): boolean | Promise<boolean>;
}

export const answer = ({ response }: Seen, body: unknown, status = 200, headers = {}): true => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
  return true;
};

export const refuse = ({ response }: Seen, status: number, headers = {}, body = ''): true => {
  response.writeHead(status, headers);
  response.end(body);
  return true;
};

export const resultOf = ({ message }: Seen, result: unknown) => ({ jsonrpc: '2.0', id: message?.id, result });

/** A server of the 2025 generation that echoes, and can be told to behave badly. */
export async function startFakeMcp(options: FakeOptions = {}): Promise<FakeMcp> {
  const fake: FakeMcp = { url: '', log: [], seen: [], sessions: new Set(), close: async () => {} };
  let count = 0;

  function serve(seen: Seen): void {
    const { http, message } = seen;
    const id = http.headers['mcp-session-id'];
    if (message?.method === 'initialize') {
      const sessionId = `session-${++count}`;
      fake.sessions.add(sessionId);
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'fake', version: '1.0.0' },
      };
      answer(
        seen,
        resultOf(seen, result),
        200,
        options.hasSessions === false ? {} : { 'mcp-session-id': sessionId },
      );
    } else if (options.hasSessions !== false && (id === undefined || !fake.sessions.has(String(id)))) {
      refuse(seen, id === undefined ? 400 : 404, {}, 'Session not found');
    } else if (http.method === 'GET') {
      refuse(seen, 405);
    } else if (http.method === 'DELETE') {
      fake.sessions.delete(String(id));
      refuse(seen, 200);
    } else if (message?.id === undefined) {
      refuse(seen, 202);
    } else if (message.method === 'tools/call') {
      answer(
        seen,
        resultOf(seen, { content: [{ type: 'text', text: JSON.stringify(message.params?.['arguments']) }] }),
      );
    } else if (message.method === 'tools/list') {
      answer(seen, resultOf(seen, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }));
    } else {
      answer(seen, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } });
    }
  }

  const listener = async (http: IncomingMessage, response: ServerResponse) => {
    const body = await text(http);
    const seen: Seen = {
      http,
      response,
      message: body.startsWith('{') ? (JSON.parse(body) as Message) : undefined,
    };
    fake.seen.push(seen);
    fake.log.push([http.method, seen.message?.method].filter(Boolean).join(' '));
    if ((await options.instead?.(seen, fake)) !== true) serve(seen);
  };
  const server =
    options.tls === undefined
      ? createServer((http, response) => void listener(http, response))
      : createTlsServer(options.tls, (http, response) => void listener(http, response));
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  fake.url = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/mcp`;
  fake.close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return fake;
}

/** What a vault kept, by key. */
export function createVault(kept = new Map<string, Record<string, unknown>>()): OAuthVault {
  return {
    read: async (key) => kept.get(key),
    async write(key, record) {
      if (record === undefined) kept.delete(key);
      else kept.set(key, structuredClone(record));
    },
  };
}

export const createDeps = (more: Partial<ConnectionDeps> = {}): ConnectionDeps => ({
  now: () => new Date(),
  random: () => 0.5,
  env: {},
  log: { debug() {}, info() {}, warn() {}, error() {} },
  network: managedNetworkOf({}),
  version: '1.2.3',
  ...more,
});

/** A client as the runtime has it, over what is tested. */
export async function connect(config: Partial<ServerConfig> & { url: string }, deps = createDeps()) {
  const signal = new AbortController().signal;
  const opened = await openHttp({ key: 'srv_1', config: { name: 'fake', ...config } }, deps, signal);
  const client = new Client({ name: 'kaiwu', version: '1.2.3' }, { versionNegotiation: { mode: 'auto' } });
  const errors: Error[] = [];
  const close = async () => {
    await opened.close();
    await client.close();
  };
  try {
    await client.connect(opened.transport, { timeout: 10_000 });
  } catch (error) {
    await close();
    throw toOwnError(error) ?? error;
  }
  Object.assign(client, { onerror: (error: Error) => errors.push(error) });
  const call = (args: Record<string, unknown> = {}, timeout = 10_000) =>
    client.callTool({ name: 'echo', arguments: args }, { timeout });
  return { client, opened, errors, call, close };
}
