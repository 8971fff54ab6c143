import { Readable, Writable } from 'node:stream';
import {
  type AgentContext,
  agent,
  type McpServer,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptRequest,
  RequestError,
} from '@agentclientprotocol/sdk/unstable';
import { type Conversations, createConversations } from './conversations.ts';
import { type Directives, runDirective } from './directives.ts';
import { type Choices, checkMode, choose, toOffers } from './offers.ts';

/** What it says of its window of context, in tokens; four characters make one. */
const CONTEXT_TOKENS = 100_000;
const toTokens = (text: string): number => Math.ceil(text.length / 4);

interface DemoSession {
  directories: string[];
  mcpServers: McpServer[];
  choices: Choices;
  past: string[];
  usage: { inputTokens: number; outputTokens: number };
  turn?: { abort: AbortController; heard: string[] };
}

const textOf = ({ prompt }: Pick<PromptRequest, 'prompt'>): string =>
  prompt.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** The SDK checks the parameters of its own methods alone. */
function toPrompt(params: unknown): PromptRequest {
  const { sessionId, prompt } = params as Partial<PromptRequest>;
  if (typeof sessionId === 'string' && Array.isArray(prompt)) return { sessionId, prompt };
  throw RequestError.invalidParams(params);
}

interface Place {
  cwd: string;
  additionalDirectories?: string[];
  mcpServers?: McpServer[];
}

/** A small agent without a model behind it, for a first try and for tests. Resolves when the client has left. */
export async function runDemoAgent(options: {
  input: Readable;
  output: Writable;
  version: string;
  /** Where it keeps conversations. Without it they end with the process. */
  folder?: string;
  newId(): string;
  exit: Directives['exit'];
}): Promise<void> {
  const sessions = new Map<string, DemoSession>();
  const kept: Conversations | undefined =
    options.folder === undefined ? undefined : createConversations(options.folder);
  let canAnswer = false;

  function sessionOf(sessionId: string): DemoSession {
    const session = sessions.get(sessionId);
    if (session === undefined) throw RequestError.sessionNotFound(sessionId);
    return session;
  }

  function open(sessionId: string, place: Place, past: string[] = []) {
    sessions.set(sessionId, {
      directories: [place.cwd, ...(place.additionalDirectories ?? [])],
      mcpServers: place.mcpServers ?? [],
      choices: {},
      past,
      usage: { inputTokens: 0, outputTokens: 0 },
    });
    return toOffers({});
  }

  async function pastOf(sessionId: string): Promise<string[]> {
    const past = sessions.get(sessionId)?.past ?? (await kept?.read(sessionId));
    if (past === undefined) throw RequestError.sessionNotFound(sessionId);
    return [...past];
  }

  async function prompt(sessionId: string, text: string, client: AgentContext) {
    const session = sessionOf(sessionId);
    if (session.turn !== undefined) throw RequestError.invalidRequest({ details: 'a turn runs already' });
    const turn = { abort: new AbortController(), heard: [] };
    session.turn = turn;
    try {
      return await runTurn(sessionId, session, turn, text, client);
    } finally {
      session.turn = undefined;
    }
  }

  async function runTurn(
    sessionId: string,
    session: DemoSession,
    { abort, heard }: NonNullable<DemoSession['turn']>,
    text: string,
    client: AgentContext,
  ) {
    const { usage, directories, mcpServers } = session;
    const update: Directives['update'] = async (one) => {
      const isText = one.sessionUpdate === 'agent_message_chunk' && one.content.type === 'text';
      if (isText && one.content.type === 'text') usage.outputTokens += toTokens(one.content.text);
      await client.notify('session/update', { sessionId, update: one });
    };
    const directives: Directives = {
      directories,
      mcpServers,
      past: session.past,
      heard,
      signal: abort.signal,
      newId: options.newId,
      exit: options.exit,
      update,
      permission: (toolCall, choices) =>
        client.request('session/request_permission', { sessionId, toolCall, options: choices }),
      question: canAnswer
        ? (form) => client.request('elicitation/create', { sessionId, mode: 'form', ...form })
        : undefined,
    };
    usage.inputTokens += toTokens(text);
    await kept?.add(sessionId, text);
    await runDirective(text, directives).catch((error: unknown) => {
      if (!abort.signal.aborted) throw error;
    });
    session.past.push(text);
    if (abort.signal.aborted) return { stopReason: 'cancelled' as const };
    const totalTokens = usage.inputTokens + usage.outputTokens;
    await update({ sessionUpdate: 'usage_update', used: totalTokens, size: CONTEXT_TOKENS });
    return { stopReason: 'end_turn' as const, usage: { ...usage, totalTokens } };
  }

  const connection = agent({ name: 'kaiwu-demo' })
    .onRequest('initialize', ({ params }) => {
      canAnswer = params.clientCapabilities?.elicitation?.form != null;
      return {
        protocolVersion: PROTOCOL_VERSION,
        _meta: { steering: { supported: true } },
        agentInfo: { name: 'kaiwu-demo', title: 'Demo agent', version: options.version },
        agentCapabilities: {
          loadSession: kept !== undefined,
          mcpCapabilities: { http: true },
          sessionCapabilities: {
            close: {},
            additionalDirectories: {},
            ...(kept === undefined ? {} : { fork: {} }),
          },
        },
      };
    })
    .onRequest('session/new', ({ params }) => {
      const sessionId = options.newId();
      return { sessionId, ...open(sessionId, params) };
    })
    .onRequest('session/load', async ({ params, client }) => {
      const { sessionId } = params;
      const past = await pastOf(sessionId);
      for (const text of past) {
        const update = {
          sessionUpdate: 'user_message_chunk' as const,
          content: { type: 'text' as const, text },
        };
        await client.notify('session/update', { sessionId, update });
      }
      return open(sessionId, params, past);
    })
    .onRequest('session/fork', async ({ params }) => {
      const past = await pastOf(params.sessionId);
      const sessionId = options.newId();
      for (const text of past) await kept?.add(sessionId, text);
      return { sessionId, ...open(sessionId, params, past) };
    })
    .onRequest('session/close', ({ params }) => {
      sessionOf(params.sessionId).turn?.abort.abort();
      sessions.delete(params.sessionId);
      return {};
    })
    .onRequest('session/set_mode', ({ params }) => {
      sessionOf(params.sessionId);
      checkMode(params.modeId);
      return {};
    })
    .onRequest('session/set_config_option', ({ params }) => ({
      configOptions: choose(sessionOf(params.sessionId).choices, params.configId, params.value),
    }))
    .onRequest('session/prompt', ({ params, client }) => prompt(params.sessionId, textOf(params), client))
    .onRequest('_session/steering', toPrompt, ({ params }) => {
      const { turn } = sessionOf(params.sessionId);
      turn?.heard.push(textOf(params));
      return { outcome: turn === undefined ? 'promptRequired' : 'injected' };
    })
    .onNotification('session/cancel', ({ params }) => sessions.get(params.sessionId)?.turn?.abort.abort())
    .connect(
      ndJsonStream(
        Writable.toWeb(options.output),
        Readable.toWeb(options.input) as ReadableStream<Uint8Array>,
      ),
    );
  await connection.closed;
}
