import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Json } from './json.ts';

/** One request with full control of headers and of how its body is cut up. */
export async function send(
  url: string,
  options: {
    method?: string;
    path?: string;
    headers?: Record<string, string>;
    /** Written one after the other, each after the one before has left. */
    chunks?: Uint8Array[];
  },
): Promise<{ status: number; headers: Record<string, unknown>; text: string; json: Json }> {
  const { method = 'GET', path = '/healthz', headers = {}, chunks = [] } = options;
  const outgoing = request(url + path, { method, headers, agent: false });
  const answered = once(outgoing, 'response');
  answered.catch(() => {});
  for (const chunk of chunks) {
    if (outgoing.destroyed) break;
    await new Promise<void>((resolve) => outgoing.write(chunk, () => resolve()));
  }
  outgoing.end();
  const [incoming] = await answered;
  incoming.setEncoding('utf8');
  let text = '';
  for await (const part of incoming) text += part;
  return { status: incoming.statusCode, headers: incoming.headers, text, json: parse(text) };
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A plain TCP connection that collects what it is told. */
export async function openSocket(
  port: number,
): Promise<{ socket: Socket; text(): string; ended: Promise<void> }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => {});
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  await once(socket, 'connect');
  return { socket, text: () => text, ended };
}
