// An MCP server over stdio with one tool, without a library.
import { createInterface } from 'node:readline';

const reply = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    reply(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'fake', version: '1' },
    });
  } else if (method === 'tools/list') {
    reply(id, { tools: [{ name: 'add', inputSchema: { type: 'object' } }] });
  } else if (method === 'tools/call') {
    const { a, b } = params.arguments;
    const sum = { sum: a + b, who: process.env.WHO };
    reply(id, { content: [{ type: 'text', text: JSON.stringify(sum) }], structuredContent: sum });
  } else if (id !== undefined) {
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } })}\n`,
    );
  }
});
lines.on('close', () => process.exit(0));
