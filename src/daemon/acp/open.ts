import { PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { KaiwuError } from '../../core/errors.ts';
import { EVENT_LIMITS } from '../../core/link.ts';
import type { AcpConnection } from './connection.ts';

type Json = Record<string, unknown>;

/** An MCP server that a session is given, as ACP writes it. */
export type McpServerConfig =
  | { name: string; command: string; args: string[]; env: { name: string; value: string }[] }
  | { type: 'http'; name: string; url: string; headers: { name: string; value: string }[] };

export interface Opened {
  acpSessionId: string;
  /** How the conversation so far reached the agent. */
  resumed: 'new' | 'loaded' | 'without_history';
  /** The agent's answer: its modes, models and options. */
  offers: unknown;
}

/** Brings an agent from its start to an open conversation. Answers are checked here: the SDK does not. @throws agent_failed */
export async function openConversation(
  connection: AcpConnection,
  options: {
    agent: { definition: { name: string } };
    directory: string;
    acpSessionId?: string;
    mcpServers: McpServerConfig[];
    version: string;
  },
): Promise<Opened> {
  const { name } = options.agent.definition;
  const capabilities = await initialize(connection, name, options.version);
  const where = { cwd: options.directory, mcpServers: options.mcpServers };
  const earlier = options.acpSessionId;
  if (earlier !== undefined) {
    for (const method of waysToResume(capabilities)) {
      try {
        return {
          acpSessionId: earlier,
          resumed: 'loaded',
          offers: await connection.request(method, { sessionId: earlier, ...where }),
        };
      } catch (error) {
        // It may have lost the conversation, or advertise what it cannot do; a dead agent fails the next request too.
        if (!(error instanceof KaiwuError)) throw error;
      }
    }
  }
  const offers = await connection.request('session/new', where);
  const acpSessionId = isObject(offers) ? offers.sessionId : undefined;
  if (typeof acpSessionId !== 'string' || acpSessionId === '') {
    throw new KaiwuError('agent_failed', `${name} answered session/new without a sessionId.`);
  }
  if (acpSessionId.length > EVENT_LIMITS.acpSessionId) {
    throw new KaiwuError(
      'agent_failed',
      `${name} answered session/new with a sessionId of ${acpSessionId.length} characters.`,
    );
  }
  return { acpSessionId, resumed: earlier === undefined ? 'new' : 'without_history', offers };
}

async function initialize(connection: AcpConnection, name: string, version: string): Promise<Json> {
  const answer = await connection.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'kaiwu', version },
    // Agents do their own reading, writing and running, inside their own sandbox.
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  const spoken = isObject(answer) ? answer.protocolVersion : undefined;
  if (spoken !== PROTOCOL_VERSION) {
    throw new KaiwuError(
      'agent_failed',
      `${name} speaks version ${JSON.stringify(spoken)} of ACP; Kaiwu speaks ${PROTOCOL_VERSION}.`,
      {
        hint: 'Install a version of the agent that speaks it.',
      },
    );
  }
  return isObject(answer) && isObject(answer.agentCapabilities) ? answer.agentCapabilities : {};
}

/** Resuming is cheaper than loading, which sends the whole conversation again. */
function waysToResume(capabilities: Json): string[] {
  const session = isObject(capabilities.sessionCapabilities) ? capabilities.sessionCapabilities : {};
  return [
    ...(isObject(session.resume) ? ['session/resume'] : []),
    ...(capabilities.loadSession === true ? ['session/load'] : []),
  ];
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
