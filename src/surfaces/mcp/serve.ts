import type { Readable, Writable } from 'node:stream';
import type { CallContext } from '../../core/call.ts';
import type { BackendClient } from '../../core/client.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { ActionManifest, Surface } from '../../core/spec.ts';
import { createBackendLink } from './backend-link.ts';
import { checkDefaultSession } from './default-session.ts';
import type { BuiltinAnswers } from './host-requests.ts';
import { createHostSide } from './host-side.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { serveProtocol } from './sdk.ts';
import { aborted, delay, TIMING, type Timing } from './timing.ts';
import { createToolCalls } from './tool-calls.ts';
import { createToolList, type ToolsCache } from './tool-list.ts';
import { createWire } from './wire.ts';

export interface ServeMcpOptions {
  /**
   * Finds the backend and the sign-in; called when first needed and again whenever they did not hold. Answers the very
   * client of before while nothing changed.
   */
  connect(): Promise<BackendClient>;
  /** Actions that this version was built with: the tools when nothing else is known. */
  builtin(): Promise<ActionManifest[]>;
  /** What lists for hosts hold at least. */
  builtinAnswers(): Promise<BuiltinAnswers>;
  toolsCache: ToolsCache;
  /** Session used where an action needs one and the call names none. */
  defaultSessionId?: string;
  machineId?: string;
  /** `agent` inside an agent's session. Default `mcp`. */
  surface?: Surface;
  version: string;
  input: Readable;
  output: Writable;
  log: Logger;
  describeDaemon?: () => Promise<string | undefined>;
  /** Aborted when this process was told to end. */
  signal: AbortSignal;
  /** From 0 up to 1; spreads retries. */
  random(): number;
  timing?: Partial<Timing>;
}

/**
 * Serves one host over a pair of pipes until the host goes away or `signal` aborts, then answers what is open and settles
 * with the exit code, within 3 seconds.
 * @throws what the first `connect` throws: without a sign-in there is nothing to serve
 */
export async function serveMcp(options: ServeMcpOptions): Promise<number> {
  const { log, version } = options;
  const timing = { ...TIMING, ...options.timing };
  const backend = createBackendLink(options.connect);
  const surface = options.surface ?? 'mcp';
  const tools = createToolList({
    backend,
    builtin: options.builtin,
    version,
    cache: options.toolsCache,
    log,
    timing,
    surface,
    random: options.random,
    onChange: () => protocol.toolsChanged(),
  });
  const context: CallContext = {
    surface,
    ...(options.defaultSessionId === undefined ? {} : { sessionId: options.defaultSessionId }),
    ...(options.machineId === undefined ? {} : { machineId: options.machineId }),
  };
  const calls = createToolCalls({
    backend,
    context,
    timing,
    ...(options.describeDaemon === undefined ? {} : { describeDaemon: options.describeDaemon }),
    onReached: () => tools.reached(),
  });

  const unusable = backend.first.then(() => new Promise<never>(() => undefined));
  /** Not before the host has its first answer: the client costs time to load. */
  const begin = () => {
    if (begun) return;
    begun = true;
    tools.prefetch();
    // Without a backend nothing can be said of it; the calls say that.
    void checkDefaultSession({ backend, builtin: options.builtin, context, log }).catch(() => undefined);
  };
  let begun = false;

  const wire = createWire({
    input: options.input,
    output: options.output,
    log,
    onAnswer: () => setImmediate(begin),
  });
  const protocol = serveProtocol(
    wire,
    { version, instructions: INSTRUCTIONS },
    {
      listTools: () => tools.list(),
      callTool: (call) => calls.call(call),
      host: createHostSide({ ...options, backend, calls, timing }),
      onError: (error) => log.warn({ error: error.message }, 'protocol error'),
    },
  );
  const idle = setTimeout(begin, timing.idleMs);

  /** Bounded at every step, since no host waits for long. */
  async function end(mayAnswer: boolean): Promise<void> {
    clearTimeout(idle);
    begun = true;
    if (mayAnswer) {
      const connected = backend.first.then(
        () => delay(timing.answerMs),
        () => undefined,
      );
      await Promise.race([wire.answered(), connected, delay(timing.connectMs)]);
    }
    calls.end();
    const kept = tools.close();
    await Promise.race([wire.answered(), delay(timing.flushMs)]);
    await Promise.race([protocol.close(), delay(timing.flushMs)]);
    await Promise.race([Promise.all([wire.flushed(), kept]), delay(timing.flushMs)]);
  }

  const why = await Promise.race([
    wire.ended,
    aborted(options.signal).then(() => 'signal'),
    unusable.catch(() => 'unusable'),
  ]);
  log.debug({ why }, 'ending');
  await end(why !== 'output');
  return Promise.race([unusable, Promise.resolve(0)]);
}
