import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { EntryOptions } from './options.ts';

export interface Message {
  jsonrpc: '2.0';
  id?: number | string | null;
  method?: string;
  params?: Record<string, unknown>;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into it as deep as it likes
  result?: any;
  error?: { code: number; message: string };
}

/** A host reduced to its pipes, so that a test sees and sends every byte. */
export interface Host {
  child: ChildProcess;
  /** Every line of stdout so far, as it came. */
  lines: string[];
  stderr(): string;
  /** Lines that are not JSON-RPC. */
  noise(): string[];
  messages(): Message[];
  write(text: string | Uint8Array): void;
  send(message: Partial<Message>): void;
  /** Sends a request and waits for its answer. */
  request(method: string, params?: Record<string, unknown>, id?: number | string): Promise<Message>;
  initialize(protocolVersion?: string, clientName?: string): Promise<Message>;
  /** The first message, past or to come, that fits. */
  message(fits: (message: Message) => boolean): Promise<Message>;
  /** Waits for the end of the process. */
  exit(): Promise<{ code: number | null; signal: NodeJS.Signals | null; ms: number }>;
  changeOptions(change: Partial<EntryOptions>): Promise<void>;
  kill(): Promise<void>;
}

export function startHost(
  [file = '', ...args]: string[],
  optionsFile: string,
  env?: NodeJS.ProcessEnv,
): Host {
  const child = spawn(file, args, { stdio: 'pipe', ...(env === undefined ? {} : { env }) });
  const lines: string[] = [];
  let rest = '';
  let errors = '';
  let nextId = 1;
  let waiters: (() => void)[] = [];
  const wake = () => {
    for (const waiter of waiters.splice(0)) waiter();
  };
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    const pieces = (rest + part).split('\n');
    rest = pieces.pop() ?? '';
    lines.push(...pieces);
    wake();
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    errors += part;
  });
  child.stdin.on('error', () => undefined);
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('close', (code, signal) => {
      resolve({ code, signal });
      wake();
    });
  });

  const parse = (line: string): Message | undefined => {
    try {
      const message = JSON.parse(line) as Message;
      return message.jsonrpc === '2.0' ? message : undefined;
    } catch {
      return undefined;
    }
  };
  const messages = () => lines.map(parse).filter((message) => message !== undefined);

  const host: Host = {
    child,
    lines,
    stderr: () => errors,
    noise: () => [...lines, ...(rest === '' ? [] : [rest])].filter((line) => parse(line) === undefined),
    messages,
    write: (text) => void child.stdin.write(text),
    send: (message) => host.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    request(method, params, id = nextId++) {
      host.send({ id, method, ...(params === undefined ? {} : { params }) });
      return host.message((message) => message.id === id && message.method === undefined);
    },
    async initialize(protocolVersion = '2025-11-25', clientName = 'Test Host') {
      const clientInfo = { name: clientName, version: '1.0.0' };
      const answer = await host.request('initialize', { protocolVersion, capabilities: {}, clientInfo });
      host.send({ method: 'notifications/initialized' });
      return answer;
    },
    async message(fits) {
      for (;;) {
        const found = messages().find(fits);
        if (found !== undefined) return found;
        if (child.exitCode !== null || child.signalCode !== null) {
          await ended;
          const last = messages().find(fits);
          if (last !== undefined) return last;
          throw new Error(`the server ended first (${child.exitCode ?? child.signalCode}):\n${errors}`);
        }
        await new Promise<void>((resolve) => waiters.push(resolve));
      }
    },
    async exit() {
      const from = performance.now();
      const end = await ended;
      return { ...end, ms: performance.now() - from };
    },
    async changeOptions(change) {
      const options = JSON.parse(await readFile(optionsFile, 'utf8')) as EntryOptions;
      await writeFile(`${optionsFile}.new`, JSON.stringify({ ...options, ...change }));
      await rename(`${optionsFile}.new`, optionsFile);
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
  return host;
}

/** `_meta` of a request of the stateless generation. */
export const modernMeta = (clientName = 'Modern Host') => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: clientName, version: '1.0.0' },
});

/** Waits until `check` holds, looking at each turn of the event loop. */
export async function until(what: string, check: () => boolean, ms = 20_000): Promise<void> {
  const end = performance.now() + ms;
  while (!check()) {
    if (performance.now() > end) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
