import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { BackendClient } from '../core/client.ts';
import { includesSession } from '../core/managed/session-share.ts';
import type { Logger } from '../core/ports/host.ts';
import type { Surface } from '../core/spec.ts';
import type { McpServerConfig } from '../daemon/acp/open.ts';
import { createBackendLink } from '../surfaces/mcp/backend-link.ts';
import { createHostSide } from '../surfaces/mcp/host-side.ts';
import { type McpHttp, startMcpHttp } from '../surfaces/mcp/http/server.ts';
import { INSTRUCTIONS } from '../surfaces/mcp/instructions.ts';
import { TIMING } from '../surfaces/mcp/timing.ts';
import { createToolCalls } from '../surfaces/mcp/tool-calls.ts';
import { createToolList } from '../surfaces/mcp/tool-list.ts';
import type { App } from './app.ts';
import { httpOptionsOf, type Target } from './connection.ts';
import { createConnect, createToolsCache, readBuiltin, readBuiltinAnswers } from './mcp-sources.ts';
import { BRIDGE_BEARER, BRIDGE_URL } from './session-tools-env.ts';

const SURFACE: Surface = 'agent';

/** Kaiwu's own MCP server inside the sessions of a daemon. Nothing is open before the first session. */
export interface SessionTools {
  /** What the agent of a session is given, with a bearer that is good until `end`. */
  serversOf(session: {
    sessionId: string;
    agentId: string;
    /** Managed servers whose tools it may use; absent: all that the servers allow. */
    servers?: string[];
  }): Promise<McpServerConfig[]>;
  /** The agent's process is gone: its bearer opens nothing any more. */
  end(sessionId: string): void;
  close(): Promise<void>;
}

export function createSessionTools(options: {
  app: App;
  target: Target;
  machineId: string;
  /** Asks for a token of the session, in bounded time. An earlier one ends with it. @throws backend_unreachable | timeout */
  askToken(sessionId: string): Promise<string>;
  log: Logger;
}): SessionTools {
  const { app, target, log } = options;
  const doors = new Map<string, () => void>();
  let http: Promise<McpHttp> | undefined;

  // Every session sees a part of the same list, so the daemon asks for it once, as itself.
  const tools = createToolList({
    surface: SURFACE,
    backend: createBackendLink(createConnect(app, target)),
    builtin: readBuiltin,
    version: app.version,
    cache: createToolsCache(target, SURFACE),
    log,
    timing: TIMING,
    random: Math.random,
    isShared: true,
    onChange: () => void http?.then((server) => server.toolsChanged()),
  });

  function listen(): Promise<McpHttp> {
    if (http !== undefined) return http;
    // So that the first agent finds the list made.
    tools.prefetch();
    const info = { version: app.version, instructions: INSTRUCTIONS };
    http = startMcpHttp({ info, log });
    http.catch(() => {
      http = undefined;
    });
    return http;
  }

  /** The backend as one session may use it. The token is asked for at the first call, and anew when it does not hold. */
  function createSessionConnect(sessionId: string): () => Promise<BackendClient> {
    let made: Promise<BackendClient> | undefined;

    async function connect(onRefused: () => void): Promise<BackendClient> {
      const token = await options.askToken(sessionId);
      const { createBackendClient } = await import('../client/backend-client.ts');
      const client = createBackendClient({
        ...(await httpOptionsOf(app, target)),
        token,
        context: { machineId: options.machineId },
        random: Math.random,
      });
      return {
        ...client,
        async execute(call, signal) {
          const envelope = await client.execute(call, signal);
          if (envelope.status === 'error' && envelope.error.code === 'not_authenticated') onRefused();
          return envelope;
        },
      };
    }

    return () => {
      if (made === undefined) {
        const forget = () => {
          if (made === asked) made = undefined;
        };
        const asked = connect(forget);
        made = asked;
        asked.catch(forget);
      }
      return made;
    };
  }

  function end(sessionId: string): void {
    doors.get(sessionId)?.();
    doors.delete(sessionId);
  }

  return {
    async serversOf({ sessionId, agentId, servers }) {
      const server = await listen().catch((error: unknown) => {
        log.error({ error, sessionId }, 'the session starts without the tools of Kaiwu');
      });
      if (server === undefined) return [];
      end(sessionId);
      const backend = createBackendLink(createSessionConnect(sessionId));
      const calls = createToolCalls({
        backend,
        context: { surface: SURFACE, sessionId, machineId: options.machineId },
        timing: TIMING,
        onReached: () => tools.reached(),
      });
      const session = { sessionId, agentId, ...(servers === undefined ? {} : { mcpServers: servers }) };
      const bearer = randomBytes(32).toString('base64url');
      const shut = server.open(bearer, {
        listTools: () => tools.list((origin) => includesSession(origin, session)),
        callTool: (call) => calls.call(call),
        host: createHostSide({
          backend,
          calls,
          builtin: readBuiltin,
          builtinAnswers: readBuiltinAnswers,
          log,
          timing: TIMING,
          random: Math.random,
        }),
      });
      doors.set(sessionId, shut);
      return [toServer(server.url, bearer)];
    },
    end,
    async close() {
      for (const sessionId of doors.keys()) end(sessionId);
      await Promise.all([tools.close(), http?.then((server) => server.close())]);
    },
  };
}

function toServer(url: string, bearer: string): McpServerConfig {
  return {
    type: 'http',
    name: 'kaiwu',
    url,
    headers: [{ name: 'Authorization', value: `Bearer ${bearer}` }],
    fallback: {
      command: process.execPath,
      args: [fileURLToPath(new URL('./session-tools-bridge.js', import.meta.url))],
      env: [
        { name: BRIDGE_URL, value: url },
        { name: BRIDGE_BEARER, value: bearer },
      ],
    },
  };
}
