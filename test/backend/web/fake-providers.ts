import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeProvider {
  url: string;
  asked: { url: string; headers: Record<string, string | string[] | undefined>; body: string }[];
  /** Undefined: it never answers. */
  reply: (() => { status?: number; headers?: Record<string, string>; text: string }) | undefined;
  close(): Promise<void>;
}

/** A service that answers whatever it is told to. */
export async function startFakeProvider(json: unknown): Promise<FakeProvider> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      provider.asked.push({ url: request.url ?? '', headers: request.headers, body });
      const reply = provider.reply?.();
      if (reply !== undefined) response.writeHead(reply.status ?? 200, reply.headers).end(reply.text);
    });
  });
  const provider: FakeProvider = {
    url: '',
    asked: [],
    reply: () => ({ text: JSON.stringify(json) }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}
