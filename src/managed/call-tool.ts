import { KaiwuError } from '../core/errors.ts';
import type { ManagedCall, ToolCallResult, ToolDefinition } from '../core/managed/managed.ts';
import { toCallResult, tooLarge } from './call-result.ts';
import { AnsweredError, LostError } from './link/channel.ts';
import { TOO_LARGE } from './link/ids.ts';
import type { Link } from './link/open-link.ts';

/** What a server answers where the caller, and not the server, is at fault: no such tool, or wrong arguments. */
const CALLERS_FAULT = new Set([-32_601, -32_602]);

export interface CallOptions {
  link: Link;
  call: ManagedCall;
  /** The server's shown name. */
  name: string;
  definition: ToolDefinition | undefined;
  limitMs: number;
  /** Makes a stranger's words fit for a message. */
  clean(text: string): string;
  signal: AbortSignal;
  /** Hears how it went, for the state of the server: what failed, where the server is to blame. */
  onOutcome(problem: string | undefined): void;
  onSignInNeeded(error: KaiwuError): void;
  onUnreachable(): void;
}

/** One call over a connection. It is never sent twice: nobody knows what a call that was cut off has done. */
export async function callTool(options: CallOptions): Promise<ToolCallResult> {
  const { call, limitMs, signal, onOutcome } = options;
  const what = `${options.name}: ${JSON.stringify(call.tool)}`;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new Error('timed out')), limitMs);
  const either = AbortSignal.any([signal, deadline.signal]);
  try {
    const answer = await request(options, either);
    const result = toCallResult(answer, what);
    // Many servers answer so where there is no such tool, which is no fault of theirs.
    if (result.isError !== true) onOutcome(undefined);
    else if (options.definition !== undefined) onOutcome('it answered with an error');
    return result;
  } catch (error) {
    if (signal.aborted) throw new KaiwuError('canceled', `${what} was canceled; the server was told.`);
    throw explain(error);
  } finally {
    clearTimeout(timer);
  }

  function explain(error: unknown): KaiwuError {
    const failed = toCallError(error);
    if (failed.code === 'mcp_server_unavailable') options.onUnreachable();
    if (failed.code === 'mcp_sign_in_needed') options.onSignInNeeded(failed);
    else if (!(error instanceof AnsweredError && CALLERS_FAULT.has(error.code))) onOutcome(failed.message);
    return failed;
  }

  function toCallError(error: unknown): KaiwuError {
    if (deadline.signal.aborted) {
      return new KaiwuError(
        'timeout',
        `${what} did not answer within ${limitMs / 1000} s and was canceled; whether it took effect is not known.`,
        {
          hint: 'Look at what it did before calling it again. `timeoutSeconds` of the server sets the limit.',
        },
      );
    }
    if (error instanceof KaiwuError) return error;
    if (error instanceof LostError) {
      return new KaiwuError(
        'tool_failed',
        options.clean(
          `${what} was cut off: ${error.message}. Whether it took effect is not known, so it is not called again.`,
        ),
        { hint: 'Look at what it did before calling it again.' },
      );
    }
    if (error instanceof AnsweredError) {
      if (error.code === TOO_LARGE) return tooLarge(what, error.message);
      return new KaiwuError('tool_failed', options.clean(`${what} failed: ${error.message} (${error.code})`));
    }
    return new KaiwuError(
      'tool_failed',
      options.clean(`${what} failed: ${error instanceof Error ? error.message : 'in an unknown way'}`),
    );
  }
}

function request({ link, call, definition, limitMs }: CallOptions, signal: AbortSignal): Promise<unknown> {
  const params = { name: call.tool, arguments: call.arguments };
  // Over HTTP of the newer generation some arguments go into headers too: the SDK knows how.
  const hasHeaders =
    link.isModern &&
    link.opened.kind === 'http' &&
    definition !== undefined &&
    JSON.stringify(definition.inputSchema).includes('"x-mcp-header"');
  if (!hasHeaders) return link.request('tools/call', params, signal);
  const { outputSchema: _, ...toolDefinition } = definition;
  return link.client.callTool(params, {
    toolDefinition: toolDefinition as NonNullable<
      Parameters<typeof link.client.callTool>[1]
    >['toolDefinition'] &
      object,
    signal,
    timeout: limitMs + 1000,
  });
}
