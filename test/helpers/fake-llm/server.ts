import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { chat } from './chat.ts';
import { gemini } from './gemini.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';
import { nextSteps, type Step } from './script.ts';
import { type Answer, type Asked, isJson, type Json, type StreamEvent, type Wire } from './wire.ts';

const WIRES: Wire[] = [chat, responses, messages, gemini];
const MODELS = ['fake-1', 'fake-2'];

/** One request as it came. */
export interface Seen extends Pick<Asked, 'model' | 'tools' | 'entries'> {
  wire: string;
  /** The client hung up before the end. */
  cutOff: boolean;
}

/** A model server on this machine that does what the person's message says. */
export interface FakeModel {
  url: string;
  /** Every request for words so far, oldest first. */
  seen: Seen[];
  close(): Promise<void>;
}

export async function startFakeModel(): Promise<FakeModel> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void serve(request, response, seen).catch((error: unknown) => {
      if (!response.headersSent) sendJson(response, 400, { error: { message: String(error) } });
      else response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, seen: Seen[]): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const body = await readBody(request);
  const wire = WIRES.find(({ path }) => path.test(pathname));
  if (wire === undefined) return serveOther(pathname, response);
  const asked = wire.read(body, pathname);
  const record: Seen = { wire: wire.name, ...asked, cutOff: false };
  seen.push(record);
  const gone = new AbortController();
  response.on('close', () => {
    record.cutOff = !response.writableEnded;
    gone.abort();
  });
  const steps = nextSteps(asked);
  const failure = steps.find((step) => step.does === 'fail');
  if (failure !== undefined) {
    const error = { type: 'api_error', message: 'The fake model fails as asked.', code: failure.status };
    return sendJson(response, failure.status, { type: 'error', error });
  }
  const id = `fake${seen.length}`;
  const answer = wire.answer({ id, model: asked.model });
  const put = asked.stream ? openStream(response) : () => undefined;
  put(answer.begin());
  for (const step of steps) await play(step, { answer, put, id, signal: gone.signal });
  put(answer.end());
  if (asked.stream) response.end();
  else sendJson(response, 200, answer.whole());
}

async function play(
  step: Step,
  {
    answer,
    put,
    id,
    signal,
  }: { answer: Answer; put(events: StreamEvent[]): void; id: string; signal: AbortSignal },
): Promise<void> {
  switch (step.does) {
    case 'say':
      // Word by word, so that a stream is one.
      for (const word of step.words.split(/(?<= )/)) put(answer.text(word));
      return;
    case 'think':
      return put(answer.thought(step.words));
    case 'call':
      return put(answer.call({ id: `call_${id}`, name: step.tool, args: step.args }));
    case 'drip':
      for (let at = 0; at < step.count && !signal.aborted; at += 1) {
        put(answer.text(`drop${at} `));
        await sleep(step.everyMs, undefined, { signal }).catch(() => undefined);
      }
      return;
    case 'fail':
  }
}

function openStream(response: ServerResponse): (events: StreamEvent[]) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  return (events) => {
    for (const { event, data } of events) {
      const name = event === undefined ? '' : `event: ${event}\n`;
      response.write(`${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    }
  };
}

/** What clients ask beside words. */
function serveOther(path: string, response: ServerResponse): void {
  if (/count_?tokens$/i.test(path)) return sendJson(response, 200, { input_tokens: 10, totalTokens: 10 });
  if (path.endsWith('/models')) {
    return sendJson(response, 200, {
      object: 'list',
      data: MODELS.map((id) => ({ id, object: 'model' })),
      models: [],
    });
  }
  sendJson(response, 404, { error: { message: `The fake model has no ${path}.` } });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Json> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  const body: unknown = text === '' ? {} : JSON.parse(text);
  return isJson(body) ? body : {};
}
