import type { ManagedTool, ManagedToolState } from '../ports/managed.ts';
import type { Runtime } from '../ports/stores.ts';
import type { Unavailable } from '../spec.ts';
import { toShortText, toVisibleText } from '../visible-text.ts';
import type { ServerConfig } from './config.ts';
import { createToolFilter } from './filter.ts';
import { MANAGED_LIMITS, type ToolDefinition } from './managed.ts';
import { toManagedNames } from './names.ts';
import { type DefinitionChanges, diffDefinition, type ToolPin, toPin } from './pins.ts';
import { type PortableToolSchema, toPortableToolSchema, toServerBudget } from './portable.ts';

/** A tool of a managed server with all that its action is made of. */
export interface ToolEntry extends ManagedTool {
  /** As the server defines it now; as it was accepted, where the server no longer lists it. */
  definition: ToolDefinition;
  /** Set where it is available. */
  portable?: Extract<PortableToolSchema, { schema: unknown }>;
  /** Set unless it is available. */
  unavailable?: Unavailable;
}

/** What the states of a server's tools follow from. */
export interface ToolStateSources {
  /** Unique name of the server. */
  server: string;
  config: Pick<ServerConfig, 'include_tools' | 'exclude_tools' | 'enabled' | 'trusted' | 'provider'>;
  /** The provider that the server names is not enabled and trusted. */
  isProviderOff?: boolean;
  /** Last listing; undefined while there was none. */
  tools: readonly ToolDefinition[] | undefined;
  /** What was accepted, by the server's own names of the tools; `damaged` where that cannot be read. */
  pins: ReadonlyMap<string, ToolPin> | 'damaged';
}

/** Characters of a description that are shown. */
const MAX_DESCRIPTION = 8000;

type Reason = Exclude<ManagedToolState, 'available'>;

type Judged =
  | { state: 'available'; portable: NonNullable<ToolEntry['portable']> }
  | { state: Reason; reason: string; changes?: DefinitionChanges; says?: DefinitionChanges };

/** All tools of a server that are known, sorted by name, each with its state and why. */
export function toToolStates(sources: ToolStateSources, sha256: Runtime['sha256']): ToolEntry[] {
  const { server, config, tools = [], pins } = sources;
  const accepted: ReadonlyMap<string, ToolPin> = pins === 'damaged' ? new Map() : pins;
  const listed = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
  const gone = [...accepted.values()].filter(({ name }) => !listed.has(name));
  const filter = createToolFilter(config);
  const used = new Set<string>();
  const budget = toServerBudget();

  function judge(pin: ToolPin, tool: ToolDefinition, taken: boolean): Judged {
    if (config.enabled === false) return { state: 'server_disabled', reason: `${server} is disabled.` };
    if (sources.isProviderOff === true) {
      const provider = toVisibleText(config.provider ?? '', { singleLine: true });
      return {
        state: 'provider_not_trusted',
        reason: `${server} is of the capability provider ${provider}, which is not enabled and trusted.`,
      };
    }
    if (!listed.has(tool.name)) {
      const why = sources.tools === undefined ? 'has not listed its tools yet' : 'no longer lists it';
      return { state: 'gone', reason: `${server} ${why}.` };
    }
    const list = filter(tool.name);
    if (list !== undefined) return { state: 'excluded', reason: EXCLUDED[list] };
    if (taken) return { state: 'left_out', reason: 'Another tool of the server has the same name.' };
    const portable = toPortableToolSchema(tool.inputSchema, budget);
    if ('leftOut' in portable) {
      const reason = `No host takes it: ${toVisibleText(portable.leftOut, { singleLine: true })}.`;
      return { state: 'left_out', reason: toShortText(reason, MANAGED_LIMITS.reason) };
    }
    if (pins === 'damaged') {
      return { state: 'held_back', reason: 'What was accepted of the server cannot be read.' };
    }
    const before = accepted.get(tool.name);
    if (before?.digest === pin.digest) return { state: 'available', portable };
    return { state: 'held_back', ...toDifference(before, tool, renamedFrom) };
  }

  /** What is gone, by all that a definition says beside its name. Made where something is new. */
  let nameless: Map<string, ToolPin> | undefined;
  const namelessDigest = (tool: ToolDefinition) => toPin({ ...tool, name: '' }, sha256).digest;
  const renamedFrom = (tool: ToolDefinition) => {
    nameless ??= new Map(gone.map((pin) => [namelessDigest(pin.definition), pin]));
    return nameless.get(namelessDigest(tool));
  };

  return [...listed.values(), ...gone.map(({ definition }) => definition)]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((tool) => {
      const names = toManagedNames(server, tool.name, sha256);
      const pin = toPin(tool, sha256);
      const judged = judge(pin, tool, used.has(names.slug));
      used.add(names.slug);
      const base = {
        server,
        name: tool.name,
        toolName: names.toolName,
        actionId: names.actionId,
        state: judged.state,
        description: toShortText(toVisibleText(tool.description ?? ''), MAX_DESCRIPTION),
        effect: toEffect(tool, config.trusted === true),
        digest: pin.digest,
        definition: tool,
      };
      if (judged.state === 'available') return { ...base, portable: judged.portable };
      const { state, reason, changes, says } = judged;
      const unavailable = { reason: state, remedy: toRemedy(state, server, reason) };
      return { ...base, reason, unavailable, ...(changes && { changes }), ...(says && { says }) };
    });
}

/** A stranger's hint that a tool only reads is no more than a hint; that it destroys is believed. */
function toEffect({ annotations }: ToolDefinition, trusted: boolean): ToolEntry['effect'] {
  if (annotations?.['destructiveHint'] === true) return 'destructive';
  return trusted && annotations?.['readOnlyHint'] === true ? 'read' : 'write';
}

const EXCLUDED = {
  include_tools: 'It is not among include_tools of the server.',
  exclude_tools: 'It is among exclude_tools of the server.',
};

/** What a person has to look at before the tool can be used. */
function toDifference(
  before: ToolPin | undefined,
  tool: ToolDefinition,
  renamedFrom: (tool: ToolDefinition) => ToolPin | undefined,
) {
  if (before !== undefined) {
    const changes = diffDefinition(before.definition, tool);
    const fields = [...new Set(changes.map(({ field }) => field.split('.')[0]))].join(', ');
    return { reason: `Changed since it was accepted: ${fields}.`, changes };
  }
  const renamed = renamedFrom(tool);
  if (renamed === undefined) {
    const nothing = { name: tool.name, inputSchema: { type: 'object', properties: {} } };
    return { reason: 'New since the server was accepted.', says: diffDefinition(nothing, tool) };
  }
  return {
    reason: `Was accepted under another name: ${toShortText(toVisibleText(renamed.name, { singleLine: true }), 200)}.`,
    changes: diffDefinition(renamed.definition, tool),
  };
}

const REMEDIES: Record<Reason, (server: string) => string> = {
  excluded: (server) => `A person can change the filter of ${server} in Settings > MCP servers.`,
  held_back: (server) =>
    `A person looks at what is new and accepts it: \`kaiwu mcp servers review ${server}\`, or Settings > MCP servers.`,
  left_out: (server) => `Whoever makes ${server} can mend its definition.`,
  gone: (server) => `Settings > MCP servers shows how ${server} does, and can list its tools anew.`,
  server_disabled: (server) =>
    `A person can enable it: \`kaiwu mcp servers enable ${server}\`, or Settings > MCP servers.`,
  provider_not_trusted: () =>
    'A person who trusts it says so: `kaiwu capability provider list` shows what is recorded, `add` and `update` change it.',
};

const toRemedy = (state: Reason, server: string, reason: string): string =>
  `${reason} ${REMEDIES[state](server)}`;
