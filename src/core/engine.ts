import type { ActionCall, Envelope, TokenKind, TokenScope } from './call.ts';
import type { Capabilities, FurtherActions } from './catalog.ts';
import type { CatalogAnswer } from './feed.ts';
import type { ActionPorts } from './ports/index.ts';
import type { ApprovalStore, GrantStore, IdempotencyStore, Runtime } from './ports/stores.ts';
import type { ActionManifest, AnyAction, Surface } from './spec.ts';

/** What a checked token says of its bearer. */
export interface Identity {
  tokenId: string;
  kind: TokenKind;
  deviceId?: string;
  scope: TokenScope;
  /** Session of the agent whose process calls, where that can be told; asked before a change only. */
  agentSession?: () => string | undefined;
}

/** The ports that a backend brings; core adds what works on catalog, policy and approvals. */
export type BackendPorts = Omit<ActionPorts, 'discovery' | 'pipeline' | 'approvals' | 'grants' | 'previews'>;

export interface EngineOptions {
  actions: AnyAction[];
  /** Tools of managed servers, as actions. */
  further?: FurtherActions;
  capabilities?: Capabilities;
  ports: BackendPorts;
  approvalStore: ApprovalStore;
  grants: GrantStore;
  idempotency: IdempotencyStore;
  runtime: Runtime;
  /** This process, new at each start: tells its own leases from those of a process that died. */
  ownerId: string;
  /** Calls back whenever an approval has changed; answers the way to stop. */
  onApprovalChange(listener: (artifactId: string) => void): () => void;
  /** Hears of errors that the caller only sees as `internal`. */
  onError(error: unknown, call: ActionCall): void;
}

/** The one pipeline, and the catalog that it works from. Find, policy, validate, session, approve, run, audit. */
export interface ActionEngine {
  /** `identity` is undefined when the token was missing or bad: the answer is then `not_authenticated`. */
  execute(call: ActionCall, identity: Identity | undefined, signal: AbortSignal): Promise<Envelope>;
  /** The actions that exist on a surface, with what the policy says of each, sorted by id. */
  catalog(surface: Surface, identity: Identity, backendVersion: string): Promise<CatalogAnswer>;
  /** Every action as data, sorted by id, those of managed servers last. */
  readonly manifests: readonly ActionManifest[];
  /** Changes whenever an action came, went or changed while this process runs. */
  readonly revision: string;
  /** To be awaited once at start, before the first call: settles what an earlier process left half done. */
  recover(): Promise<void>;
  /** Carries out what was approved before the process ended and had not begun. For when machines had time to link. */
  resume(): Promise<void>;
}
