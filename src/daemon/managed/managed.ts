import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import type { BackendMethods, DaemonMethods } from '../../core/link.ts';
import { SERVER_LIMITS, serverConfigSchema } from '../../core/managed/config.ts';
import type { RunnableServer, ServerStatus } from '../../core/managed/managed.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { RpcHandlers, RpcPeer } from '../../core/rpc-peer.ts';
import { createManagedCalls } from './calls.ts';
import type { ManagedOptions } from './options.ts';
import { OWN_PREFIX, toReport } from './report.ts';
import { createStatesTeller } from './teller.ts';

type ManagedHandlers = Pick<RpcHandlers<DaemonMethods>, 'mcp.apply' | 'mcp.call' | 'mcp.test'>;

export interface ManagedStatus {
  servers: { name: string; status: ServerStatus; reason?: string }[];
  /** Of the machine's own file: where it is, and what is wrong with it. */
  own: { source: string; problem?: string; warnings: string[] };
}

/** Managed MCP servers that run on this machine: those that the account put here, and those of the machine's own file. */
export interface ManagedServers {
  handlers: ManagedHandlers;
  /** What the backend tells without waiting. */
  notice(method: string, params: unknown): void;
  start(): Promise<void>;
  up(peer: RpcPeer<BackendMethods>): void;
  down(): void;
  status(): ManagedStatus | undefined;
  /** Ends every server; resolves when none is left. */
  close(): Promise<void>;
}

/** What the backend sends is believed no more than what anybody sends: only what has the shape of a server is run. */
const applySchema = z.object({
  servers: z
    .array(
      z.looseObject({
        key: z
          .string()
          .min(1)
          .max(300)
          .refine((key) => !key.startsWith(OWN_PREFIX)),
        config: serverConfigSchema.extend({ name: z.string().min(1).max(SERVER_LIMITS.name) }),
      }),
    )
    .max(SERVER_LIMITS.servers),
});

export function createManagedServers(options: {
  managed: ManagedOptions | undefined;
  log: Logger;
  now(): Date;
}): ManagedServers {
  const { managed, log } = options;
  if (managed === undefined) return NONE;
  const { own } = managed;
  let ofAccount: readonly RunnableServer[] = [];
  let closed = false;

  const runtime = managed.createRuntime(() => teller.changed());
  const calls = createManagedCalls(runtime);
  /** Since when the file is as it is: it stands among the servers, and each of those has a time. */
  let ownSince = options.now().toISOString();
  const teller = createStatesTeller({
    report: () => toReport(runtime.states(), own, () => ownSince),
    log,
  });

  function apply(): void {
    if (closed) return;
    runtime.apply([...own.servers(), ...ofAccount]);
    // One that is no longer there says nothing more.
    teller.changed();
  }

  function ownChanged(): void {
    ownSince = options.now().toISOString();
    apply();
  }

  const nameOf = (key: string): string =>
    [...own.servers(), ...ofAccount].find((server) => server.key === key)?.config.name ?? key;

  return {
    handlers: {
      'mcp.apply': async (params) => {
        const parsed = applySchema.safeParse(params);
        if (!parsed.success) throw notServers(parsed.error);
        ofAccount = parsed.data.servers;
        apply();
        return {};
      },
      'mcp.call': (params) => calls.call(params),
      'mcp.test': ({ key }) => runtime.test(key, new AbortController().signal),
    },
    notice(method, params) {
      if (method === 'mcp.cancel') calls.cancel((params as { callId?: unknown } | undefined)?.callId);
    },
    async start() {
      await own.start(ownChanged);
      apply();
    },
    up: teller.up,
    down() {
      teller.down();
      calls.cancelAll();
    },
    status: () => ({
      servers: runtime.states().map(({ key, status, reason }) => ({
        name: nameOf(key),
        status,
        ...(reason === undefined ? {} : { reason }),
      })),
      own: {
        source: own.source,
        ...(own.problem() === undefined ? {} : { problem: own.problem() }),
        warnings: [...own.warnings()],
      },
    }),
    async close() {
      closed = true;
      own.close();
      teller.down();
      calls.cancelAll();
      await runtime.close();
    },
  };
}

/** The first issue by its place alone: what stands there may be a secret. */
function notServers(error: z.ZodError): KaiwuError {
  const [issue] = error.issues;
  const place = issue?.path.map(String).join('.') ?? '';
  return new KaiwuError(
    'invalid_input',
    `What the backend wants this machine to run is no server: ${place}.`,
  );
}

const unsupported = async (): Promise<never> => {
  throw new KaiwuError('unsupported', 'This daemon runs no managed MCP servers.');
};

const NONE: ManagedServers = {
  handlers: { 'mcp.apply': unsupported, 'mcp.call': unsupported, 'mcp.test': unsupported },
  notice: () => undefined,
  start: async () => undefined,
  up: () => undefined,
  down: () => undefined,
  status: () => undefined,
  close: async () => undefined,
};
