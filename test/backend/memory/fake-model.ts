import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeModel {
  url: string;
  /** What was asked, oldest first. */
  asked: { path: string; body: Record<string, unknown>; authorization: string | undefined }[];
  /** Answers a chat; set to say something else, or a status to refuse with. */
  say: (messages: { role: string; content: string }[]) => string | { status: number; text: string };
  close(): Promise<void>;
}

/** An endpoint like that of OpenAI. Its vectors count letters, so that texts with the same letters are near. */
export async function startFakeModel(): Promise<FakeModel> {
  const model: FakeModel = {
    url: '',
    asked: [],
    say: () => 'It is so [1].',
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const answerTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const part of request) text += part;
    const body = JSON.parse(text);
    model.asked.push({ path: request.url ?? '', body, authorization: request.headers.authorization });
    const answer = request.url?.endsWith('/embeddings')
      ? { data: (body.input as string[]).map((each, index) => ({ index, embedding: toVector(each) })) }
      : model.say(body.messages);
    if (typeof answer === 'object' && 'status' in answer) {
      response.writeHead(answer.status).end(answer.text);
      return;
    }
    const json = typeof answer === 'string' ? { choices: [{ message: { content: answer } }] } : answer;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  };
  const server = createServer((request, response) => void answerTo(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return model;
}

const toVector = (text: string): number[] =>
  [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => text.toLowerCase().split(letter).length - 1);
