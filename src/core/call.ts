import type { WireError } from './errors.ts';
import type { Surface } from './spec.ts';

/** What a surface adds to a call. Everything here is a claim that the backend checks against the token. */
export interface CallContext {
  surface: Surface;
  /** Session used where an action needs one and the input names none (`--session`). */
  sessionId?: string;
  /** Machine that the caller runs on; tells `daemon_not_running` from `machine_offline`. */
  machineId?: string;
  /** Client as it named itself, normalised: `cli`, `mcp:claude-code`. A label, never an authority. */
  client?: string;
  /** Longest wait, in seconds, that the surface can bear inside one call. Longer waits end early, as a result. */
  maxWaitSeconds?: number;
  /** BCP 47 tag of the language that the person is spoken to in. */
  language?: string;
}

/** One call of one action, as every surface makes it. */
export interface ActionCall {
  /** Action id, tool name or alias. */
  actionId: string;
  input?: unknown;
  context: CallContext;
  /** Same key and same input: same outcome, run once. At most 200 characters. */
  idempotencyKey?: string;
  /** On surface `voice`: the code of the words that the person has heard and agreed to. */
  confirmation?: string;
}

/** What is said to the person before a voice changes something. */
export interface Confirmation {
  /** Four digits, to be sent with the same call once the person has agreed. */
  code: string;
  /** One or two short sentences. */
  words: string;
  /** RFC 3339. */
  expiresAt: string;
}

/** Who is calling, after the token was checked. */
export interface Caller extends CallContext {
  /** Token that authenticated the call. */
  tokenId: string;
  tokenKind: TokenKind;
  deviceId?: string;
  client: string;
  scope: TokenScope;
  /** A person has said yes to this very call. */
  approved?: boolean;
}

export const TOKEN_KINDS = ['device', 'web', 'agent', 'voice', 'api'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** What a token may do at most. Absent means no limit of that kind. */
export interface TokenScope {
  surfaces?: Surface[];
  /** Action ids or families (`session.*`). */
  actions?: string[];
  /** The one session that the token is good for. */
  sessionId?: string;
}

/** What a gated call answers in place of running. */
export interface ApprovalNotice {
  kind: 'approval_request_created';
  artifactId: string;
  actionId: string;
  summary: string;
  status: string;
  /** RFC 3339. */
  expiresAt: string;
  /** CLI command that decides it. */
  decideWith: string;
  /** How to wait for the outcome. */
  waitWith: string;
  /** How often this very call has been asked for while it is pending. */
  count: number;
  /** How many more requests of this caller may be pending. */
  remaining: number;
}

/** The same answer on every surface. `ok` never wraps a failure. */
export type Envelope =
  | { status: 'ok'; output: Record<string, unknown> }
  | { status: 'approval_required'; approval: ApprovalNotice; confirmation?: Confirmation }
  | { status: 'error'; error: WireError };

/** Reason of a signal: the caller took the call back (a host's cancel), which says more than a closed connection does. */
export class CallWithdrawn extends Error {
  constructor() {
    super('the caller took the call back');
    this.name = 'CallWithdrawn';
  }
}

/** Runs calls. The backend has the real one; every surface holds one over HTTP. */
export interface ActionExecutor {
  execute(call: ActionCall, signal?: AbortSignal): Promise<Envelope>;
}
