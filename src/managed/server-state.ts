import type { KaiwuError } from '../core/errors.ts';
import type { RunnableServer, ServerState, ToolDefinition } from '../core/managed/managed.ts';
import type { ConnectionDeps, OpenedTransport } from './connection.ts';
import type { Link } from './link/open-link.ts';

/** What is known of a server. */
export interface ServerFacts {
  server: RunnableServer;
  link?: Link | undefined;
  /** The last way to it, gone or not. */
  way?: OpenedTransport | undefined;
  /** Why there is no link. */
  failure?: KaiwuError | undefined;
  /** What is wrong with its listing and with its calls, while there is a link. */
  listProblem?: string | undefined;
  callProblem?: string | undefined;
  /** The link has been listed, however that went. */
  hasListed: boolean;
  tools?: ToolDefinition[] | undefined;
  warnings: string[];
  starts: number;
  nextTryAt?: Date | undefined;
}

export interface ToldState {
  read(): ServerState;
  /** Tells of what others act on; counts and the end of stderr alone are no news. */
  tell(): void;
}

function toStatus({ server, link, failure, listProblem, callProblem, hasListed }: ServerFacts) {
  if (server.config.enabled === false) return 'disabled';
  if (link !== undefined) {
    if (listProblem !== undefined || callProblem !== undefined) return 'degraded';
    return hasListed ? 'ready' : 'starting';
  }
  if (failure === undefined) return 'starting';
  return failure.code === 'mcp_sign_in_needed' ? 'sign_in_needed' : 'failed';
}

/** @param clean makes a stranger's words fit for others */
export function createToldState(
  facts: ServerFacts,
  deps: Pick<ConnectionDeps, 'now' | 'log'>,
  clean: (text: string) => string,
  onChange: (state: ServerState) => void,
): ToldState {
  let status = toStatus(facts);
  let since = deps.now();
  let last = '';

  function read(): ServerState {
    const { server, link, way, tools, warnings, starts, nextTryAt } = facts;
    const reason = link === undefined ? facts.failure?.message : (facts.listProblem ?? facts.callProblem);
    const stderrTail = way?.stderrTail() ?? '';
    return {
      key: server.key,
      status: toStatus(facts),
      ...(reason === undefined || server.config.enabled === false ? {} : { reason: clean(reason) }),
      ...(stderrTail === '' ? {} : { stderrTail }),
      ...(link === undefined ? {} : { protocolVersion: link.protocolVersion, transport: link.opened.kind }),
      ...(link?.serverInfo === undefined ? {} : { serverInfo: link.serverInfo }),
      ...(tools === undefined ? {} : { tools }),
      warnings: warnings.map(clean),
      noiseLines: way?.noiseLines() ?? 0,
      starts,
      since: since.toISOString(),
      ...(nextTryAt === undefined ? {} : { nextTryAt: nextTryAt.toISOString() }),
    };
  }

  return {
    read,
    tell() {
      const now = toStatus(facts);
      if (now !== status) since = deps.now();
      status = now;
      const state = read();
      const news = JSON.stringify({ ...state, stderrTail: '', noiseLines: 0, starts: 0 });
      if (news === last) return;
      last = news;
      deps.log.info({ server: facts.server.config.name, status, reason: state.reason }, 'managed server');
      onChange(state);
    },
  };
}
