import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/**
 * The thinnest MCP server over HTTP, in a process of its own, so that what is timed is the way to it. Writes its address as
 * its first line, and ends with its stdin.
 */

const results: Record<string, (params: Record<string, unknown>) => unknown> = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'echo', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object', properties: {} } }] }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: JSON.stringify(params['arguments']) }] }),
};

const server = createServer((request, response) => {
  void text(request).then((body) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    const message = JSON.parse(body) as { id?: unknown; method: string; params?: Record<string, unknown> };
    if (message.id === undefined) return response.writeHead(202).end();
    const result = results[message.method]?.(message.params ?? {});
    const outcome =
      result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'bench' });
    return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome }));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) {
    process.stdout.write(`http://127.0.0.1:${address.port}/mcp\n`);
  }
});
process.stdin.resume().once('end', () => process.exit(0));
