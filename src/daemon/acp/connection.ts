import { setTimeout as sleep } from 'node:timers/promises';
import { type AnyMessage, client, methods, RequestError } from '@agentclientprotocol/sdk';
import { KaiwuError } from '../../core/errors.ts';
import { createLineSplitter } from '../../core/lines.ts';
import { toFrame } from '../../core/frame.ts';
import { isObject, type Json } from './json.ts';
import type { AgentExit, AgentProcess } from './process.ts';
import { answerQuestion, type QuestionOutcome } from './questions.ts';

/** Longest message of an agent, bytes. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;
/** Requests of an agent that may be unanswered at once. */
const MAX_OPEN_REQUESTS = 500;
/** Most characters of one line of noise that are kept. */
const MAX_NOISE = 4096;
const AUTH_REQUIRED = -32_000;
const EXIT_MS = 1500;

export interface PermissionOutcome {
  outcome: { outcome: 'selected'; optionId: string } | { outcome: 'cancelled' };
}

export interface AcpConnection {
  /**
   * @throws agent_failed when the agent answers with an error, or ends before it answers
   * @throws agent_needs_setup when it says that nobody is signed in
   */
  request(method: string, params: unknown): Promise<unknown>;
  notify(method: string, params: unknown): void;
  /** Stops and resumes reading what the agent says. */
  setPaused(paused: boolean): void;
  readonly exited: Promise<AgentExit>;
}

export interface ConnectionOptions {
  agentName: string;
  signIn?: string;
  process: AgentProcess;
  maxLineBytes: number;
  /** Takes out of its answers what nobody may read. */
  redact(text: string): string;
  /** Every message that one read of the pipe brought is handled inside one call of this. */
  batch(work: () => void): void;
  /** `session/update` parameters, in the agent's order and before any answer that follows them. */
  onUpdate(params: unknown): void;
  onPermission(params: Json, signal: AbortSignal): Promise<PermissionOutcome>;
  onQuestion(params: Json, signal: AbortSignal): Promise<QuestionOutcome>;
  onNoise(text: string): void;
}

/** Speaks ACP to an agent's process. */
export function createConnection(options: ConnectionOptions): AcpConnection {
  const { agentName, process: agent } = options;
  const stream = createMessageStream(options);
  const connection = client({ name: 'kaiwu' })
    .onRequest(
      methods.client.session.requestPermission,
      (params) => params,
      ({ params, signal }) => options.onPermission(isObject(params) ? params : {}, signal),
    )
    .onRequest(
      methods.client.elicitation.create,
      (params) => params,
      ({ params, signal }) => answerQuestion(params, (form) => options.onQuestion(form, signal)),
    )
    .connect(stream);

  return {
    exited: agent.exited,
    async request(method, params) {
      try {
        return await connection.agent.request<unknown, unknown>(method, params);
      } catch (error) {
        if (!connection.signal.aborted) throw toAnswerError(error, method, options);
        // Without its output it is of no use, so it is given a moment to exit by itself and say how.
        const inTime = await Promise.race([agent.exited, sleep(EXIT_MS)]);
        if (inTime === undefined) void agent.end('it closed its output');
        throw toExitError(agentName, await agent.exited);
      }
    },
    notify(method, params) {
      connection.agent.notify<unknown>(method, params).catch(() => {});
    },
    setPaused(paused) {
      if (paused) agent.stdout.pause();
      else agent.stdout.resume();
    },
  };
}

/** How an agent ended, in words and with the last that it said. */
export function toExitError(agentName: string, exit: AgentExit): KaiwuError {
  const how =
    exit.because !== undefined
      ? `was ended: ${exit.because}`
      : exit.signal !== null
        ? `was ended by ${exit.signal}`
        : `exited with code ${exit.code}`;
  const said = exit.stderrTail === '' ? '' : `. It said last: ${exit.stderrTail}`;
  return new KaiwuError('agent_failed', `${agentName} ${how}${said}`, {
    hint: 'Send another message to start it again.',
    details: { exitCode: exit.code, signal: exit.signal, stderrTail: exit.stderrTail },
  });
}

function toAnswerError(
  error: unknown,
  method: string,
  { agentName, signIn, redact }: ConnectionOptions,
): KaiwuError {
  if (!(error instanceof RequestError)) {
    const text = error instanceof Error ? error.message : String(error);
    return new KaiwuError('agent_failed', `${agentName} did not answer ${method}: ${text}`, { cause: error });
  }
  const said = redact(error.message.slice(0, MAX_NOISE));
  const more = redact(detailOf(error.data));
  if (error.code === AUTH_REQUIRED) {
    return new KaiwuError('agent_needs_setup', `${agentName} has nobody signed in: ${said}${more}`, {
      hint: signIn ?? `Sign in to ${agentName} on this machine.`,
      details: { method, code: error.code },
      cause: error,
    });
  }
  return new KaiwuError(
    'agent_failed',
    `${agentName} answered ${method} with error ${error.code}: ${said}${more}`,
    { details: { method, code: error.code }, cause: error },
  );
}

/** Agents put the useful half of an error into its data. */
function detailOf(data: unknown): string {
  const text =
    typeof data === 'string'
      ? data
      : typeof data === 'object' && data !== null
        ? [(data as { details?: unknown }).details, (data as { message?: unknown }).message].find(
            (part) => typeof part === 'string',
          )
        : undefined;
  return typeof text === 'string' ? ` (${text.slice(0, 500)})` : '';
}

/**
 * Messages of the process as the SDK wants them, less the updates: the SDK would drop kinds that it does not know, and
 * hand the rest over later than the answer that follows them.
 */
function createMessageStream(options: ConnectionOptions) {
  const { process: agent } = options;
  /** Ids of the agent's requests and of ours that are not answered yet. */
  const open = new Set<unknown>();
  const asked = new Set<unknown>();
  let controller: ReadableStreamDefaultController<AnyMessage> | undefined;
  let noise: string[] = [];
  /** It is being ended for a line that had no end. */
  let isBroken = false;

  /** What one read brought is told in one piece: each is a write, and there may be thousands of lines. */
  function read(work: () => void): void {
    options.batch(work);
    if (noise.length > 0) options.onNoise(noise.join('\n'));
    noise = [];
  }

  function receive(line: string): void {
    const { noise: before, message: frame } = toFrame(line);
    if (before !== '') noise.push(before.slice(0, MAX_NOISE));
    if (frame === undefined) return;
    const message = frame as unknown as AnyMessage;
    if (!('method' in message)) {
      // An answer to nothing that we asked is noise, such as an error about a notification.
      if (asked.delete(message.id)) controller?.enqueue(message);
      else noise.push(line.slice(0, MAX_NOISE));
    } else if (message.method === methods.client.session.update) {
      options.onUpdate(message.params);
    } else {
      if ('id' in message) open.add(message.id);
      if (open.size > MAX_OPEN_REQUESTS) void agent.end(`it asked ${MAX_OPEN_REQUESTS} things at once`);
      else controller?.enqueue(message);
    }
  }

  const lines = createLineSplitter({
    maxBytes: options.maxLineBytes,
    onLine(line) {
      if (!isBroken) receive(line);
    },
    onTooLong() {
      isBroken = true;
      void agent.end(`it sent more than ${options.maxLineBytes} bytes without a line break`);
    },
  });
  const readable = new ReadableStream<AnyMessage>({
    start(given) {
      controller = given;
    },
    cancel() {
      controller = undefined;
    },
  });
  agent.stdout.on('data', (chunk: Buffer) => read(() => lines.push(chunk)));
  agent.stdout.once('close', () => {
    read(() => lines.end());
    controller?.close();
    controller = undefined;
  });

  const writable = new WritableStream<AnyMessage>({
    write(message) {
      if (!('method' in message)) open.delete(message.id);
      else if ('id' in message) asked.add(message.id);
      return new Promise((resolve, reject) => {
        agent.stdin.write(`${JSON.stringify(message)}\n`, (error) =>
          error == null ? resolve() : reject(error),
        );
      });
    },
  });
  return { readable, writable };
}
