// An MCP server over stdio, as a person might have one. Every message that it gets goes into the file LOG, one JSON a line, with its
// pid. START_MS: how long it takes to be ready. FAIL: every call fails. LARGE: characters that the tool large answers. The file TOOLS, if there is one, holds its tools.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { LOG, START_MS = '0', FAIL, LARGE = '0', TOOLS } = process.env;
const note = (entry) => LOG && appendFileSync(LOG, `${JSON.stringify({ pid: process.pid, ...entry })}\n`);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
note({ started: true, argv: process.argv.slice(2), canary: process.env.CANARY });

const room = { type: 'string', description: 'Which room.' };
const DEFAULT_TOOLS = [
  {
    name: 'turn_on',
    description: 'Turns the light on.',
    inputSchema: {
      type: 'object',
      properties: {
        room,
        level: { type: 'integer' },
        note: { type: ['string', 'null'] },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['room'],
      additionalProperties: false,
    },
  },
  {
    name: 'get_state',
    description: 'State of the house.',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'wipe',
    description: 'Forgets all.',
    inputSchema: { type: 'object' },
    annotations: { destructiveHint: true },
  },
  { name: 'slow', description: 'Never ends by itself.', inputSchema: { type: 'object' } },
  {
    name: 'camera',
    description: 'A picture.',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', properties: { width: { type: 'integer' } } },
  },
  { name: 'backup', description: 'Makes a backup.', inputSchema: { type: 'object' } },
  { name: 'large', description: 'A lot.', inputSchema: { type: 'object' } },
  { name: 'fails', description: 'Says no.', inputSchema: { type: 'object' } },
];
const tools = () => {
  try {
    return JSON.parse(readFileSync(TOOLS, 'utf8'));
  } catch {
    return DEFAULT_TOOLS;
  }
};

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = (value) => ({ content: [{ type: 'text', text: value }] });
function call(name, args) {
  if (FAIL) throw new Error('the house is on fire');
  if (name === 'large') return text('x'.repeat(Number(LARGE)));
  if (name === 'fails') return { ...text('No such lamp.'), isError: true };
  if (name === 'get_state') return { ...text('{"lamps":2}'), structuredContent: { lamps: 2 } };
  if (name === 'camera')
    return {
      content: [
        { type: 'text', text: 'a\u200bpic\u202eture — 漢 🧑‍🚀' },
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        { type: 'resource_link', uri: 'home://camera/1', name: 'camera' },
        { type: 'resource', resource: { uri: 'home://note', mimeType: 'text/plain', text: 'x\u200by' } },
      ],
      structuredContent: { width: 1 },
    };
  return text(JSON.stringify({ called: name, args }));
}

async function answer({ id, method, params }) {
  switch (method) {
    case 'initialize':
      await new Promise((resolve) => setTimeout(resolve, Number(START_MS)));
      return say({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'home', version: '1.0.0' },
        },
      });
    case 'tools/list':
      return say({ id, result: { tools: tools() } });
    case 'tools/call':
      if (params.name === 'slow') return undefined;
      try {
        return say({ id, result: call(params.name, params.arguments) });
      } catch (error) {
        return say({ id, error: { code: -32000, message: error.message } });
      }
    case 'ping':
      return say({ id, result: {} });
    default:
      return id === undefined
        ? undefined
        : say({ id, error: { code: -32601, message: `no method ${method}` } });
  }
}

// Told to: it lists other tools now.
process.on('SIGUSR2', () => say({ method: 'notifications/tools/list_changed' }));
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const message = JSON.parse(line);
  note({ id: message.id, method: message.method, params: message.params });
  void answer(message);
});
lines.on('close', () => process.exit(0));
