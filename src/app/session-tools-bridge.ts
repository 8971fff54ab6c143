import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { createInterface } from 'node:readline';
import { BRIDGE_BEARER, BRIDGE_URL } from './session-tools-env.ts';

/**
 * The tools of a session for an agent that speaks MCP over stdio alone: each line of stdin becomes a request to the daemon,
 * each answer a line of stdout. It knows of the protocol only what the headers of a request repeat.
 */

const MAX_OPEN = 64;
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;
/** Milliseconds that open requests get once stdin has ended. */
const END_MS = 1000;

interface Message {
  id?: string | number | null;
  method?: string;
  params?: { name?: unknown; uri?: unknown; requestId?: unknown; _meta?: Record<string, unknown> };
  result?: { protocolVersion?: unknown };
}

const url = process.env[BRIDGE_URL] ?? '';
const bearer = process.env[BRIDGE_BEARER] ?? '';
const agent = new Agent({ keepAlive: true, maxSockets: MAX_OPEN });
const open = new Map<string, AbortController>();
/** What the answer to `initialize` has every later request repeat. */
const agreed: Record<string, string> = {};

const say = (text: string) => process.stdout.write(`${text.replaceAll('\n', ' ')}\n`);
const fail = (id: Message['id'], message: string) => {
  if (id != null) say(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message } }));
};

function headersOf({ method, params }: Message): Record<string, string> {
  const version = params?._meta?.['io.modelcontextprotocol/protocolVersion'];
  if (typeof version !== 'string' || method === undefined) return agreed;
  const headers: Record<string, string> = { 'mcp-protocol-version': version, 'mcp-method': method };
  const name = method === 'resources/read' ? params?.uri : params?.name;
  if (typeof name === 'string') headers['mcp-name'] = name;
  return headers;
}

function send(method: 'POST' | 'GET', headers: Record<string, string>, body: string, signal: AbortSignal) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      method,
      agent,
      signal,
      headers: {
        authorization: `Bearer ${bearer}`,
        accept: 'application/json, text/event-stream',
        ...(method === 'POST'
          ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
          : {}),
        ...headers,
      },
    };
    requestHttp(url, options, resolve).once('error', reject).end(body);
  });
}

/** Each message of an answer, as it comes. */
async function* messagesOf(response: IncomingMessage): AsyncGenerator<string> {
  const streamed = String(response.headers['content-type']).startsWith('text/event-stream');
  let text = '';
  for await (const part of response.setEncoding('utf8')) {
    text += part;
    if (text.length > MAX_ANSWER_CHARS) throw new Error('the answer is too long');
    if (!streamed) continue;
    for (let cut = text.indexOf('\n\n'); cut !== -1; cut = text.indexOf('\n\n')) {
      const data = text
        .slice(0, cut)
        .split('\n')
        .filter((line) => line.startsWith('data: '));
      text = text.slice(cut + 2);
      if (data.length > 0) yield data.map((line) => line.slice(6)).join('\n');
    }
  }
  if (!streamed && text.trim() !== '') yield text;
}

/** After the handshake the daemon tells of changes on a stream of its own. */
async function follow(): Promise<void> {
  const response = await send('GET', agreed, '', new AbortController().signal);
  if (response.statusCode !== 200) return void response.resume();
  for await (const message of messagesOf(response)) say(message);
}

async function pass(line: string, message: Message): Promise<void> {
  const { id, method } = message;
  const controller = new AbortController();
  const key = JSON.stringify(id);
  if (id != null) open.set(key, controller);
  try {
    const response = await send('POST', headersOf(message), line, controller.signal);
    let answered = false;
    for await (const text of messagesOf(response)) {
      const answer = JSON.parse(text) as Message;
      answered ||= answer.id === id;
      // What could not even be read has no id of its own.
      say(answer.id === null && id != null ? JSON.stringify({ ...answer, id }) : text);
      answered ||= answer.id === null;
      const version = method === 'initialize' ? answer.result?.protocolVersion : undefined;
      if (typeof version !== 'string') continue;
      agreed['mcp-protocol-version'] = version;
      agreed['mcp-session-id'] = String(response.headers['mcp-session-id'] ?? '');
    }
    if (!answered) fail(id, 'Kaiwu ended the call.');
    if (method === 'notifications/initialized') follow().catch(() => undefined);
    // What a host takes back is given up here as well, once the daemon has heard of it.
    if (method === 'notifications/cancelled') open.get(JSON.stringify(message.params?.requestId))?.abort();
  } catch {
    // A host hears nothing more of what it took back.
    if (!controller.signal.aborted)
      fail(id, 'Kaiwu cannot be reached: the daemon of this machine, or this session, has ended.');
  } finally {
    if (open.get(key) === controller) open.delete(key);
  }
}

process.stdout.on('error', () => process.exit(0));
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => process.exit(0));
const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
lines.on('line', (line) => {
  if (line.trim() === '') return;
  let message: Message;
  try {
    message = JSON.parse(line) as Message;
  } catch {
    return say(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'not JSON' } }));
  }
  if (open.size >= MAX_OPEN) return fail(message.id, `${MAX_OPEN} requests are open already`);
  void pass(line, message);
});
lines.on('close', () => {
  const until = performance.now() + END_MS;
  const look = () => (open.size === 0 || performance.now() > until ? process.exit(0) : setTimeout(look, 10));
  look();
});
