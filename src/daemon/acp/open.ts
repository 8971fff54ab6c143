import { PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { KaiwuError } from '../../core/errors.ts';
import { EVENT_LIMITS } from '../../core/link.ts';
import type { AgentFeature } from '../../core/agent.ts';
import type { AcpConnection } from './connection.ts';
import { toFeatures } from './features.ts';
import { isObject, type Json } from './json.ts';

/** An MCP server that a session is given, as ACP writes it. */
export type McpServerConfig =
  | ({ name: string } & StdioServer)
  | {
      type: 'http';
      name: string;
      url: string;
      headers: { name: string; value: string }[];
      /** For an agent that speaks stdio alone; never sent with the address. */
      fallback?: StdioServer;
    };

interface StdioServer {
  command: string;
  args: string[];
  env: { name: string; value: string }[];
}

export interface Opened {
  acpSessionId: string;
  /** How the conversation so far reached the agent. */
  resumed: 'new' | 'loaded' | 'without_history' | 'forked';
  /** What it said that it can do. */
  features: AgentFeature[];
  /** The agent's answer: its modes, models and options. */
  offers: unknown;
}

export interface OpenOptions {
  agent: { definition: { name: string } };
  directory: string;
  additionalDirectories?: string[];
  acpSessionId?: string;
  forkOf?: string;
  mcpServers: McpServerConfig[];
  version: string;
  /** Method of `authenticate` to try when nobody is signed in. */
  signInMethod?: string;
  /** Hears of what the agent cannot be given. */
  onNote(text: string): void;
}

/**
 * Brings an agent from its start to an open conversation. Answers are checked here: the SDK does not.
 * @throws agent_failed | agent_needs_setup | unsupported
 */
export async function openConversation(connection: AcpConnection, options: OpenOptions): Promise<Opened> {
  const { name } = options.agent.definition;
  const features = toFeatures(await initialize(connection, name, options.version));
  const { signInMethod } = options;
  try {
    return await open(connection, options, features);
  } catch (error) {
    const canSignIn = signInMethod !== undefined && isSetup(error);
    if (!canSignIn) throw error;
    await connection.request('authenticate', { methodId: signInMethod });
    return open(connection, options, features);
  }
}

const isSetup = (error: unknown): boolean =>
  error instanceof KaiwuError && error.code === 'agent_needs_setup';

async function open(
  connection: AcpConnection,
  options: OpenOptions,
  features: AgentFeature[],
): Promise<Opened> {
  const { name } = options.agent.definition;
  const where = toWhere(options, features);
  const { acpSessionId, forkOf } = options;
  if (acpSessionId !== undefined) {
    const offers = await goOn(connection, features, { sessionId: acpSessionId, ...where });
    if (offers !== undefined) return { acpSessionId, resumed: 'loaded', features, offers };
  } else if (forkOf !== undefined) {
    if (!features.includes('fork')) throw cannot(name, 'go on with a copy of a conversation');
    const method = 'session/fork';
    const offers = await connection.request(method, { sessionId: forkOf, ...where });
    return { acpSessionId: toSessionId(offers, name, method), resumed: 'forked', features, offers };
  }
  const offers = await connection.request('session/new', where);
  return {
    acpSessionId: toSessionId(offers, name, 'session/new'),
    resumed: acpSessionId === undefined ? 'new' : 'without_history',
    features,
    offers,
  };
}

async function initialize(connection: AcpConnection, name: string, version: string): Promise<Json> {
  const answer = await connection.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'kaiwu', version },
    clientCapabilities: {
      // Agents do their own reading, writing and running, inside their own sandbox.
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      session: { configOptions: { boolean: {} } },
      elicitation: { form: {} },
    },
  });
  const spoken = isObject(answer) ? answer.protocolVersion : undefined;
  if (spoken !== PROTOCOL_VERSION) {
    throw new KaiwuError(
      'agent_failed',
      `${name} speaks version ${JSON.stringify(spoken)} of ACP; Kaiwu speaks ${PROTOCOL_VERSION}.`,
      { hint: 'Install a version of the agent that speaks it.' },
    );
  }
  return isObject(answer) ? answer : {};
}

/** Where the conversation works, in the words of every method that opens one. @throws unsupported */
function toWhere(options: OpenOptions, features: AgentFeature[]): Json {
  const { directory: cwd, additionalDirectories = [], agent } = options;
  const mcpServers = options.mcpServers.flatMap((server): McpServerConfig[] => {
    if (!('type' in server)) return [server];
    const { fallback, ...http } = server;
    if (features.includes('http_mcp')) return [http];
    if (fallback !== undefined) return [{ name: server.name, ...fallback }];
    options.onNote(
      `${agent.definition.name} cannot use the MCP server ${server.name}: it speaks stdio alone.`,
    );
    return [];
  });
  if (additionalDirectories.length === 0) return { cwd, mcpServers };
  if (!features.includes('additional_directories'))
    throw cannot(agent.definition.name, 'work in additional directories');
  return { cwd, mcpServers, additionalDirectories };
}

/** Resuming is cheaper than loading, which sends the whole conversation again. */
const WAYS: [AgentFeature, string][] = [
  ['resume', 'session/resume'],
  ['load', 'session/load'],
];

async function goOn(connection: AcpConnection, features: AgentFeature[], params: Json): Promise<unknown> {
  for (const [feature, method] of WAYS) {
    if (!features.includes(feature)) continue;
    try {
      return (await connection.request(method, params)) ?? {};
    } catch (error) {
      // It may have lost the conversation, or advertise what it cannot do; a dead agent fails the next request too.
      if (!(error instanceof KaiwuError)) throw error;
    }
  }
  return undefined;
}

function toSessionId(offers: unknown, name: string, method: string): string {
  const acpSessionId = isObject(offers) ? offers.sessionId : undefined;
  const failed = (what: string) => new KaiwuError('agent_failed', `${name} answered ${method} ${what}.`);
  if (typeof acpSessionId !== 'string' || acpSessionId === '') throw failed('without a sessionId');
  if (acpSessionId.length > EVENT_LIMITS.acpSessionId)
    throw failed(`with a sessionId of ${acpSessionId.length} characters`);
  return acpSessionId;
}

const cannot = (name: string, what: string): KaiwuError =>
  new KaiwuError('unsupported', `${name} cannot ${what}.`, {
    hint: 'Leave it out, or use an agent whose features name it.',
  });
