import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** An MCP server over HTTP with one tool, `add`, for whoever brings the right token. Answers in plain JSON. */
export async function createHttpMcp(token: string): Promise<{ url: string; refused(): number }> {
  let refused = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.authorization !== `Bearer ${token}`) {
      refused += 1;
      return response.writeHead(401).end();
    }
    if (request.method !== 'POST') return response.writeHead(405).end();
    const message = JSON.parse(await bodyOf(request));
    if (message.id === undefined) return response.writeHead(202).end();
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer(message) }));
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    refused: () => refused,
  };
}

function answer({ method, params }: { method: string; params?: Record<string, unknown> }) {
  if (method === 'initialize') {
    const serverInfo = { name: 'http', version: '1' };
    return { result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } };
  }
  if (method === 'tools/list')
    return { result: { tools: [{ name: 'add', inputSchema: { type: 'object' } }] } };
  if (method === 'tools/call') {
    const { a, b } = (params ?? {}).arguments as { a: number; b: number };
    return { result: { content: [], structuredContent: { sum: a + b } } };
  }
  return { error: { code: -32601, message: `no ${method}` } };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return body;
}
