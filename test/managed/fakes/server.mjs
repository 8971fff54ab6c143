// A managed server over stdio that behaves as its one argument, JSON, tells: see `test/managed/runtime-world.ts`.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

const how = JSON.parse(process.argv[2] ?? '{}');
const note = (what) => {
  if (how.journal !== undefined) appendFileSync(how.journal, `${JSON.stringify(what)}\n`);
};
note({ start: process.pid });

// How often this server has been started, where that matters.
const starts =
  how.journal !== undefined && existsSync(how.journal)
    ? readFileSync(how.journal, 'utf8')
        .split('\n')
        .filter((line) => line.includes('"start"')).length
    : 1;

const write = (text) => process.stdout.write(text);
const nested = '['.repeat(how.tools?.find(({ nest }) => nest)?.nest ?? 0);
const send = (message) =>
  write(
    `${JSON.stringify({ jsonrpc: '2.0', ...message }).replace('"NESTED"', nested + nested.replaceAll('[', ']'))}\n`,
  );
const answer = (id, result) =>
  send({ id, result: how.era === 'new' ? { resultType: 'complete', ...result } : result });
const refuse = (id, code, message, data) => send({ id, error: { code, message, ...(data ? { data } : {}) } });
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

const TOOLS = [
  'echo',
  'env',
  'sleep',
  'big',
  'stray',
  'die',
  'error',
  'refuse',
  'many',
  'never',
  'garbage',
  'grow',
];
const counted =
  how.count === undefined
    ? undefined
    : Array.from({ length: how.count }, (_, i) => ({
        name: `tool_${i}`,
        description: 'z'.repeat(how.weight ?? 1),
        inputSchema: { type: 'object' },
      }));
let tools = (counted ?? how.tools ?? TOOLS).map((tool) =>
  typeof tool === 'string'
    ? { name: tool, description: `The tool ${tool}`, inputSchema: { type: 'object' } }
    : {
        ...tool,
        ...(tool.weight === undefined ? {} : { description: 'z'.repeat(tool.weight) }),
        ...(tool.nest === undefined ? {} : { inputSchema: { default: 'NESTED' } }),
      },
);
let lists = 0;
let subscription;

function list(id, { cursor }) {
  lists += 1;
  note({ list: lists });
  if (how.list === 'error') return refuse(id, -32_603, 'the list is broken');
  if (how.list === 'never') return undefined;
  if (how.list === 'nonsense') return answer(id, { tools: 'none' });
  if (how.emptyLists >= lists) return answer(id, { tools: [] });
  if (how.failAfter !== undefined && lists > how.failAfter) return refuse(id, -32_603, 'the list broke');
  if (how.pageSize === undefined) return answer(id, { tools });
  const from = cursor === undefined ? 0 : Number(cursor);
  const next = from + how.pageSize;
  if (how.list === 'same cursor') return answer(id, { tools: tools.slice(0, how.pageSize), nextCursor: '0' });
  if (how.list === 'endless') return answer(id, { tools: [], nextCursor: String(from + 1) });
  return answer(id, {
    tools: tools.slice(from, next),
    ...(next < tools.length ? { nextCursor: String(next) } : {}),
  });
}

function changed() {
  const params =
    subscription === undefined ? {} : { _meta: { 'io.modelcontextprotocol/subscriptionId': subscription } };
  send({ method: 'notifications/tools/list_changed', params });
}

const CALLS = {
  echo: (id, args) =>
    answer(id, { ...text(args.text ?? 'echo'), structuredContent: { said: args.text ?? 'echo' } }),
  env: (id, { names }) =>
    answer(id, text(JSON.stringify(Object.fromEntries(names.map((name) => [name, process.env[name]]))))),
  sleep: (id, { ms }) => setTimeout(() => answer(id, text(`slept ${ms}`)), ms),
  big: (id, { bytes }) => answer(id, text('x'.repeat(bytes))),
  never: () => {},
  error: (id) => answer(id, { ...text('it is broken'), isError: true }),
  refuse: (id) => refuse(id, -32_603, how.says ?? 'not today'),
  garbage: (id) => answer(id, { content: 'none' }),
  die: () => process.exit(3),
  // Noise, answers to nothing, answers twice, then the answer.
  stray: (id) => {
    write('not json at all\n{"half": \n\n[1,2]\n{"jsonrpc":"2.0"}\n');
    send({ id: 'nobody', result: text('for nobody') });
    send({ id: 99_999, result: text('for nobody') });
    send({ id: null, result: text('for nobody') });
    answer(id, text('for you'));
    answer(id, text('again'));
  },
  many: (id, { notifications }) => {
    for (let i = 0; i < notifications; i += 1) {
      send({ method: 'notifications/message', params: { level: 'info', data: `line ${i}` } });
    }
    answer(id, text('after all of them'));
  },
  // Adds a tool and tells of it.
  grow: (id, { name, times = 1 }) => {
    if (name !== undefined) tools = [...tools, { name, inputSchema: { type: 'object' } }];
    answer(id, text('grown'));
    for (let i = 0; i < times; i += 1) changed();
  },
  // One byte at a time.
  bytes: (id, args) => {
    const line = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result: text(args.text) })}\n`);
    let at = 0;
    const next = () => {
      if (at < line.length) process.stdout.write(line.subarray(at, (at += 1)), () => setImmediate(next));
    };
    next();
  },
  // Never a line break: `mebibytes` of it.
  flood: (_id, { mebibytes }) => {
    const piece = 'y'.repeat(1024 * 1024);
    let left = mebibytes;
    const next = () => (left-- > 0 ? process.stdout.write(piece, next) : undefined);
    write('{"jsonrpc":"2.0","id":"call-x","result":"');
    next();
  },
  noise: (_id, { everyMs }) => setInterval(() => write('still here\n'), everyMs),
  ping: (id) => {
    const ask = `ping-${id}`;
    asked.set(ask, (reply) => answer(id, text(JSON.stringify(reply.result ?? reply.error))));
    send({ id: ask, method: 'ping' });
  },
  sample: (id) => {
    const ask = `sample-${id}`;
    asked.set(ask, (reply) => answer(id, text(JSON.stringify(reply.error?.code ?? reply.result))));
    send({ id: ask, method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
  },
  batch: (id, args) => write(`${JSON.stringify([{ jsonrpc: '2.0', id, result: text(args.text) }])}\n`),
  input: (id) => send({ id, result: { resultType: 'input_required', requestState: 'x', inputRequests: {} } }),
  plain: (id) => send({ id, result: { resultType: 'complete', structuredContent: [1, 2] } }),
  // Notifications without end, as fast as they are taken.
  spam: () => {
    const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } })}\n`;
    const next = () => process.stdout.write(line.repeat(500), () => setImmediate(next));
    next();
  },
  // An answer, an error or a list that is nested `depth` times.
  deep: (id, { where, depth }) => {
    const nest = '['.repeat(depth) + ']'.repeat(depth);
    const bodies = {
      result: `"result":{"content":[],"structuredContent":{"x":${nest}}}`,
      error: `"error":{"message":${nest}}`,
      whole: `"error":${nest}`,
    };
    write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${bodies[where]}}\n`);
  },
  mute: () => process.stdout.end(),
  // Reads no more.
  pause: (id) => {
    answer(id, text('paused'));
    process.stdin.pause();
  },
};
const asked = new Map();

function receive(message) {
  const { id, method, params = {} } = message;
  note({ got: method ?? 'answer', id, params });
  if (method === undefined) return asked.get(id)?.(message);
  if (id === undefined) return undefined;
  if (method === 'server/discover') return discover(id);
  if (method === 'initialize') return initialize(id, params);
  if (method === 'subscriptions/listen') {
    subscription = id;
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    return send({
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta, notifications: params.notifications },
    });
  }
  if (method === 'tools/list') return list(id, params);
  if (method === 'tools/call') {
    const call = CALLS[params.name];
    return call === undefined
      ? refuse(id, -32_602, `Unknown tool: ${params.name}`)
      : call(id, params.arguments ?? {});
  }
  return refuse(id, -32_601, 'Method not found');
}

const capabilities = how.capabilities ?? { tools: { listChanged: true } };

function discover(id) {
  if (how.atProbe === 'exit') return process.exit(9);
  if (how.atProbe === 'silent') return undefined;
  if (how.atProbe === -32_602) return refuse(id, -32_602, 'Invalid request parameters');
  if (how.era !== 'new') return refuse(id, -32_601, 'Method not found');
  const serverInfo = { name: 'fake', version: '2.0.0' };
  const result = {
    supportedVersions: ['2026-07-28'],
    capabilities,
    _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
  };
  const reply = () => answer(id, { ttlMs: 0, cacheScope: 'private', ...result });
  return setTimeout(reply, how.discoverMs ?? 0);
}

function initialize(id, { protocolVersion }) {
  if (how.initialize === 'never') return undefined;
  if (how.initialize === 'secret')
    return refuse(id, -32_000, `bad key ${process.env.API_KEY}, args ${process.argv.slice(3)}`);
  if (how.era === 'new') {
    return refuse(id, -32_022, 'Unsupported protocol version', {
      supported: how.supported ?? ['2026-07-28'],
      requested: protocolVersion,
    });
  }
  const version = how.version ?? protocolVersion;
  return answer(id, {
    protocolVersion: version,
    capabilities,
    serverInfo: { name: 'fake', version: '1.0.0' },
  });
}

if (how.stderr !== undefined) process.stderr.write(how.stderr.replaceAll('$API_KEY', process.env.API_KEY));
for (let i = 0; i < (how.stderrLines ?? 0); i += 1) process.stderr.write(`a line of the log, number ${i}\n`);
if (how.banner !== undefined) write(how.banner);
if (how.exit !== undefined && starts <= (how.exitTimes ?? Infinity)) process.exit(how.exit);
// A child of its own that does not care for signals; it goes with its group.
if (how.child) {
  const child = spawn('/bin/sh', ['-c', "trap '' TERM HUP INT; while :; do sleep 1; done"], {
    stdio: 'ignore',
  });
  note({ child: child.pid });
}
if (how.deaf) process.on('SIGTERM', () => note({ signal: 'SIGTERM' }));
if (how.flag !== undefined && !existsSync(how.flag)) writeFileSync(how.flag, '');

function listen() {
  let rest = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) receive(JSON.parse(line));
  });
  process.stdin.on('end', () => {
    note({ end: true });
    if (!how.deaf) process.exit(0);
  });
  if (how.deaf) setInterval(() => {}, 1000);
}
if (!how.notReading) setTimeout(listen, how.readyMs ?? 0);
else setInterval(() => {}, 1000);
