import { type ActionCall, type CallContext, CallWithdrawn, type Envelope } from '../../core/call.ts';
import { KaiwuError, toWireError, type WireError } from '../../core/errors.ts';
import { toClientLabel } from '../../core/normalise-client.ts';
import type { BackendLink } from './backend-link.ts';
import { type ToolResult, toToolResult } from './result.ts';
import type { ToolCall } from './sdk.ts';
import { HostHungUp, type Timing } from './timing.ts';

export interface ToolCalls {
  call(call: ToolCall): Promise<ToolResult>;
  /** The same, for what is not listed as a tool. */
  ask(call: ToolCall): Promise<Envelope>;
  /** Ends every call that is open; each is answered `canceled`. */
  end(): void;
}

/** Hands calls on as they are. What they may do, and whether their input is right, is for the backend to say. */
export function createToolCalls(options: {
  backend: BackendLink;
  context: Pick<CallContext, 'surface' | 'sessionId' | 'machineId'>;
  timing: Timing;
  /** What is known of this machine's daemon, for a call that needed it. */
  describeDaemon?: () => Promise<string | undefined>;
  /** The backend answered a call. */
  onReached(): void;
}): ToolCalls {
  const { backend, timing } = options;
  const open = new Set<AbortController>();
  let ended = false;

  async function execute(call: ToolCall, signal: AbortSignal): Promise<Envelope> {
    try {
      const context: CallContext = {
        ...options.context,
        client: toClientLabel(options.context.surface, call.clientName),
        maxWaitSeconds: call.progress === undefined ? timing.waitSeconds : timing.waitWithProgressSeconds,
      };
      const action: ActionCall = { actionId: call.name, input: call.args, context };
      const client = await backend.get();
      const envelope = await client.execute(action, signal);
      if (!wasNotTaken(envelope)) return envelope;
      backend.forget();
      const other = await backend.get();
      return other === client ? envelope : await other.execute(action, signal);
    } catch (error) {
      return { status: 'error', error: toWireError(error) };
    }
  }

  async function describeDaemon(): Promise<string | undefined> {
    try {
      return await options.describeDaemon?.();
    } catch {
      return undefined;
    }
  }

  async function explain(error: WireError): Promise<WireError> {
    if (error.code === 'backend_unreachable' || error.code === 'not_authenticated') backend.forget();
    else options.onReached();
    if (error.code !== 'daemon_not_running') return error;
    const state = await describeDaemon();
    return state === undefined ? error : { ...error, hint: [error.hint, state].filter(Boolean).join(' ') };
  }

  async function run(call: ToolCall, signal: AbortSignal): Promise<Envelope> {
    const envelope = await execute(call, signal);
    if (signal.aborted) return { status: 'error', error: toWireError(endedHere(call.name)) };
    if (envelope.status === 'error') return { status: 'error', error: await explain(envelope.error) };
    options.onReached();
    return envelope;
  }

  async function ask(call: ToolCall): Promise<Envelope> {
    const controller = new AbortController();
    // The host took the call back; at the end of this process, or of the host's, the call is only hung up.
    const abort = () =>
      controller.abort(ended || call.signal.reason instanceof HostHungUp ? undefined : new CallWithdrawn());
    if (ended || call.signal.aborted) abort();
    call.signal.addEventListener('abort', abort, { once: true });
    open.add(controller);
    const stopProgress = startProgress(call, timing.progressMs);
    try {
      return await run(call, controller.signal);
    } finally {
      stopProgress();
      open.delete(controller);
      call.signal.removeEventListener('abort', abort);
    }
  }

  return {
    ask,
    call: async (call) => toToolResult(await ask(call), call.name),
    end() {
      ended = true;
      for (const controller of open) controller.abort();
    },
  };
}

/** A host that gets progress does not take a long call for a dead one. */
function startProgress({ name, progress, signal }: ToolCall, everyMs: number): () => void {
  if (progress === undefined) return () => undefined;
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    if (!signal.aborted) progress(count, `${name} goes on (${Math.round((count * everyMs) / 1000)} s)`);
  }, everyMs).unref();
  return () => clearInterval(timer);
}

/** Nobody listened there, or nobody was known by that token: the call can be made anew without being made twice. */
const wasNotTaken = (envelope: Envelope): boolean =>
  envelope.status === 'error' &&
  (envelope.error.code === 'not_authenticated' ||
    (envelope.error.code === 'backend_unreachable' && envelope.error.details?.['cause'] === 'ECONNREFUSED'));

const endedHere = (name: string) =>
  new KaiwuError('canceled', `${name} was canceled: the MCP server of this host is ending.`, {
    hint: 'Start the MCP server again and look at what the call has done before calling again.',
  });
