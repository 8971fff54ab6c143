/** How one error code looks on every surface. Pinned by test/core/errors.test.ts. */
interface ErrorKind {
  /** HTTP status of the answer that carries it. */
  http: number;
  /** Exit code of a CLI command that ends in it. */
  exit: number;
  /** Whether the same call may succeed later without any change. */
  retryable: boolean;
}

const kind = (http: number, exit: number, retryable = false): ErrorKind => ({ http, exit, retryable });

/**
 * The one table of error codes. CLI exit codes by kind: 2 bad input, 4 identity, 5 not found,
 * 6 state conflict, 7 unavailable, 8 time limit, 9 refused by policy, 10 agent, 130 canceled, 1 ours.
 */
export const ERRORS = {
  not_authenticated: kind(401, 4),
  forbidden: kind(403, 4),
  unknown_action: kind(404, 5),
  action_disabled: kind(403, 9),
  invalid_input: kind(400, 2),
  session_not_selected: kind(400, 2),
  session_not_found: kind(404, 5),
  session_ambiguous: kind(409, 5),
  session_directory_unavailable: kind(409, 5),
  session_archived: kind(409, 6),
  session_busy: kind(409, 6, true),
  daemon_not_running: kind(503, 7, true),
  daemon_too_old: kind(409, 6),
  machine_offline: kind(503, 7, true),
  machine_not_found: kind(404, 5),
  agent_not_available: kind(409, 10),
  agent_failed: kind(502, 10),
  agent_needs_setup: kind(409, 10),
  session_too_deep: kind(409, 6),
  timeout: kind(504, 8, true),
  canceled: kind(499, 130),
  conflict: kind(409, 6),
  confirmation_required: kind(409, 6),
  approval_not_found: kind(404, 5),
  approval_already_decided: kind(409, 6),
  approval_expired: kind(409, 6),
  approval_stale: kind(409, 6),
  self_approval_forbidden: kind(403, 9),
  permission_escalation_denied: kind(403, 9),
  access_denied: kind(403, 9),
  not_found: kind(404, 5),
  file_not_found: kind(404, 5),
  file_read_error: kind(409, 6),
  is_directory: kind(400, 2),
  not_a_file: kind(400, 2),
  file_too_large: kind(413, 2),
  payload_too_large: kind(413, 2),
  storage_full: kind(507, 6),
  rate_limited: kind(429, 7, true),
  backend_unreachable: kind(503, 7, true),
  state_damaged: kind(500, 1),
  mcp_server_not_found: kind(404, 5),
  mcp_server_unavailable: kind(503, 7, true),
  mcp_sign_in_needed: kind(409, 4),
  tool_failed: kind(502, 10),
  memory_off: kind(409, 6),
  provider_failed: kind(502, 7, true),
  unsupported: kind(501, 9),
  internal: kind(500, 1),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** The next step, one sentence. */
  hint?: string;
  /** Plain JSON for programs; never a secret. */
  details?: Record<string, unknown>;
  cause?: unknown;
}

/** The only error class that crosses a boundary. The message names the thing and what was received. */
export class KaiwuError extends Error {
  readonly code: ErrorCode;
  readonly hint?: string;
  readonly details?: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, { hint, details, cause }: ErrorDetails = {}) {
    super(withOneStop(message), cause === undefined ? undefined : { cause });
    this.name = 'KaiwuError';
    this.code = code;
    if (hint !== undefined) this.hint = withOneStop(hint);
    if (details !== undefined) this.details = details;
  }
}

/** A sentence about another one, put together from parts, ends once: `... branch?.` and `... is not there..` are mended. */
const withOneStop = (text: string): string => text.replaceAll(/(?<=[^\s./])([.?!])\.(?=\s|$)/g, '$1');

/** An error as it travels in an envelope. */
export interface WireError {
  code: ErrorCode;
  message: string;
  hint?: string;
  details?: Record<string, unknown>;
  retryable: boolean;
}

/** Turns anything thrown into a wire error. An unexpected error keeps its text out of the answer. */
export function toWireError(error: unknown): WireError {
  if (error instanceof KaiwuError) {
    return {
      code: error.code,
      message: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      ...(error.details === undefined ? {} : { details: error.details }),
      retryable: ERRORS[error.code].retryable,
    };
  }
  return {
    code: 'internal',
    message: 'Kaiwu failed in an unexpected way; nothing more is known to this caller.',
    hint: 'The log of the backend names the cause: `kaiwu daemon logs` or the terminal of `kaiwu up`.',
    retryable: false,
  };
}

/** Turns a wire error back into the error that it was, on the calling side of a connection. */
export function fromWireError(wire: Omit<WireError, 'retryable'>): KaiwuError {
  const code: ErrorCode = wire.code in ERRORS ? wire.code : 'internal';
  return new KaiwuError(code, wire.message, { hint: wire.hint, details: wire.details });
}
