import { readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

/**
 * What `kaiwu mcp serve` is measured against: the least that a server on the same SDK can do, answering the same tool
 * list from a file and nothing else.
 */
const { tools } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as { tools: [] };

serveStdio(() => {
  const server = new Server({ name: 'reference', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  return server;
});
