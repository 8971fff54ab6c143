import { KaiwuError } from '../../core/errors.ts';
import type { DaemonMethods } from '../../core/link.ts';
import { MANAGED_LIMITS, type ManagedRuntime, type ToolCallResult } from '../../core/managed/managed.ts';

/** Calls under way at once; a backend that asks for more waits. */
const MAX_OPEN = 1000;
/** Longest timer of Node, milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls of the backend to servers of this machine. */
export interface ManagedCalls {
  call(params: DaemonMethods['mcp.call']['params']): Promise<ToolCallResult>;
  /** Takes a call back. One that is unknown or over is none of our business. */
  cancel(callId: unknown): void;
  /** Nobody hears the answers any more. */
  cancelAll(): void;
}

export function createManagedCalls(runtime: Pick<ManagedRuntime, 'call'>): ManagedCalls {
  const open = new Map<string, AbortController>();

  return {
    async call({ callId, key, tool, arguments: args, client, timeoutMs }) {
      if (open.has(callId)) throw new KaiwuError('conflict', `The call ${callId} is under way already.`);
      if (open.size >= MAX_OPEN) {
        throw new KaiwuError('rate_limited', `${MAX_OPEN} calls of tools are under way on this machine.`);
      }
      const controller = new AbortController();
      const late = new KaiwuError('timeout', `${tool} did not answer within ${timeoutMs / 1000} s.`);
      const timer = setTimeout(() => controller.abort(late), Math.min(timeoutMs, MAX_TIMER_MS));
      open.set(callId, controller);
      try {
        const call = { key, tool, arguments: args, ...(client === undefined ? {} : { client }) };
        return requireFits(tool, await runtime.call(call, controller.signal));
      } catch (error) {
        throw controller.signal.reason === late ? late : error;
      } finally {
        clearTimeout(timer);
        open.delete(callId);
      }
    },
    cancel(callId) {
      if (typeof callId === 'string') open.get(callId)?.abort();
    },
    cancelAll() {
      for (const controller of open.values()) controller.abort();
    },
  };
}

/** A frame that is too large would end the link, and every other call with it. */
function requireFits(tool: string, result: ToolCallResult): ToolCallResult {
  const bytes = Buffer.byteLength(JSON.stringify(result));
  if (bytes <= MANAGED_LIMITS.result) return result;
  throw new KaiwuError(
    'payload_too_large',
    `${tool} answered ${bytes} bytes, more than the ${MANAGED_LIMITS.result} that a result may have.`,
    { hint: 'The call was made. Ask the tool for less, such as a part or a page.' },
  );
}
