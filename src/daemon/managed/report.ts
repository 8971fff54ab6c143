import { LINK_MAX_FRAME, type MachineServer } from '../../core/link.ts';
import { MANAGED_LIMITS, type RunnableServer, type ServerState } from '../../core/managed/managed.ts';
import type { OwnServers } from './options.ts';
import { secretsOf, toShownConfig } from './shown.ts';

/** Keys of servers of the machine's own file begin so; those of the account never do. */
export const OWN_PREFIX = 'file:';

/** Most bytes of a whole report in JSON; a frame has some more around it. */
const MAX_BYTES = LINK_MAX_FRAME - 64 * 1024;

/**
 * How the servers of this machine do, whole, in one frame. A file with which something is wrong is in it as a server of
 * its own, so that whoever looks at the servers sees it.
 */
export function toReport(
  states: readonly ServerState[],
  own: Pick<OwnServers, 'servers' | 'problem' | 'warnings'>,
  now: () => string,
): MachineServer[] {
  const configs = new Map(own.servers().map((server) => [server.key, server]));
  const servers = states.map((state) => toMachineServer(state, configs.get(state.key)));
  return fit([...servers, ...toFileEntry(own, now())]);
}

const toMachineServer = (state: ServerState, own: RunnableServer | undefined): MachineServer =>
  own === undefined
    ? { state }
    : { state, config: toShownConfig(own.config), secrets: secretsOf(own.config) };

function toFileEntry(
  own: Pick<OwnServers, 'servers' | 'problem' | 'warnings'>,
  since: string,
): MachineServer[] {
  const problem = own.problem();
  const warnings = own
    .warnings()
    .slice(0, MANAGED_LIMITS.warnings)
    .map((warning) => warning.slice(0, MANAGED_LIMITS.reason));
  if (problem === undefined && warnings.length === 0) return [];
  const goesOn = own.servers().length === 0 ? '' : ' The servers of the last good version go on.';
  const reason =
    problem === undefined ? 'Some of it is left out or odd; the warnings say what.' : `${problem}${goesOn}`;
  const state: ServerState = {
    key: `${OWN_PREFIX}${FILE_ENTRY}`,
    status: problem === undefined ? 'degraded' : 'failed',
    reason: reason.slice(0, MANAGED_LIMITS.reason),
    warnings,
    noiseLines: 0,
    starts: 0,
    since,
  };
  return [{ state, config: { name: FILE_ENTRY }, secrets: [] }];
}

/** Name under which a file with which something is wrong stands among the servers. */
const FILE_ENTRY = 'mcp-servers-file';

/** The largest listings are left out first: the others still come, and the backend keeps what it knew of those. */
function fit(servers: MachineServer[]): MachineServer[] {
  const sizes = servers.map((server) => Buffer.byteLength(JSON.stringify(server)));
  let total = sizes.reduce((sum, size) => sum + size + 1, 2);
  const result = [...servers];
  const largestFirst = sizes.map((size, i) => ({ size, i })).toSorted((a, b) => b.size - a.size);
  for (const { size, i } of largestFirst) {
    if (total <= MAX_BYTES) break;
    const server = result[i] as MachineServer;
    const without = withoutTools(server, size);
    total += Buffer.byteLength(JSON.stringify(without)) - size;
    result[i] = without;
  }
  return result;
}

function withoutTools({ state, ...rest }: MachineServer, bytes: number): MachineServer {
  const { tools: _, ...left } = state;
  const warning = `Its tools were not told to the backend: with those of the other servers of the machine they are too large (${bytes} bytes).`;
  return { ...rest, state: { ...left, warnings: [...left.warnings, warning] } };
}
