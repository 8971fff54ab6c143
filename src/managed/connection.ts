import type { Transport } from '@modelcontextprotocol/client';
import type { OAuthVault, RunnableServer } from '../core/managed/managed.ts';
import type { Logger } from '../core/ports/host.ts';
import type { Environment } from '../process/environment.ts';
import type { ManagedNetwork } from './http/network.ts';

/** What connections to managed servers need of the machine; handed in. */
export interface ConnectionDeps {
  now(): Date;
  /** From 0 to 1. */
  random(): number;
  /** This process' own environment: PATH and the like for programs, HTTP_PROXY and the like for addresses. */
  env: Environment;
  log: Logger;
  /** How servers over HTTP are reached. Source: src/app/managed-network.ts. */
  network: ManagedNetwork;
  /** Tokens of servers that are signed in to; absent where signing in is not offered. */
  vault?: OAuthVault;
  /** Version of the product, told to servers. */
  version: string;
}

/**
 * A way to a server, not started yet: the SDK's client calls `transport.start()`.
 *
 * What goes wrong is thrown by `start` and `send`, or told to `transport.onerror`, as KaiwuError where its kind is known:
 * `mcp_sign_in_needed`, `mcp_server_unavailable` (message: which part and how, without secrets; hint: the fix),
 * `payload_too_large`. `transport.onclose` is called once, when the way is gone for good. A transport over HTTP renews a
 * forgotten session by itself.
 */
export interface OpenedTransport {
  transport: Transport;
  kind: 'stdio' | 'http' | 'sse';
  /** End of what the program wrote to stderr, secrets hidden; empty over HTTP. */
  stderrTail(): string;
  /** Lines on stdout that were no messages. */
  noiseLines(): number;
  /** Why the way is gone, once it is: exit code, signal, flood. Holds no secret. */
  whyGone(): string | undefined;
  /** Lets go of everything: resolves when nothing is left. Idempotent; may be called again after it failed. */
  close(): Promise<void>;
}

/** Opens a way to a server. Nothing of it is left when it throws. @throws as in {@link OpenedTransport} */
export type OpenTransport = (
  server: RunnableServer,
  deps: ConnectionDeps,
  signal: AbortSignal,
) => Promise<OpenedTransport>;
