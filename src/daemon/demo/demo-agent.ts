import { Readable, Writable } from 'node:stream';
import {
  type AgentContext,
  agent,
  type McpServer,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { type Directives, runDirective } from './directives.ts';

/** Names of its own, so that the mapping of modes is put to use. */
const MODES = [
  { id: 'ask-first', name: 'Ask first' },
  { id: 'plan-first', name: 'Plan first' },
  { id: 'look-only', name: 'Look only' },
  { id: 'edit-freely', name: 'Edit freely' },
  { id: 'never-ask', name: 'Never ask' },
];

const MODELS = [
  { value: 'demo-1', name: 'Demo 1' },
  { value: 'demo-2', name: 'Demo 2' },
];

interface DemoSession {
  directory: string;
  mcpServers: McpServer[];
  model: string;
  turn?: AbortController;
}

/** A small agent without a model behind it, for a first try and for tests. Resolves when the client has left. */
export async function runDemoAgent(options: {
  input: Readable;
  output: Writable;
  version: string;
  newId(): string;
  exit: Directives['exit'];
}): Promise<void> {
  const sessions = new Map<string, DemoSession>();

  function sessionOf(sessionId: string): DemoSession {
    const session = sessions.get(sessionId);
    if (session === undefined) throw RequestError.sessionNotFound(sessionId);
    return session;
  }

  const modelOption = (currentValue: string) => ({
    type: 'select' as const,
    id: 'model',
    name: 'Model',
    category: 'model',
    currentValue,
    options: MODELS,
  });

  async function prompt(sessionId: string, text: string, client: AgentContext) {
    const session = sessionOf(sessionId);
    const turn = new AbortController();
    session.turn = turn;
    const directives: Directives = {
      directory: session.directory,
      mcpServers: session.mcpServers,
      signal: turn.signal,
      newId: options.newId,
      exit: options.exit,
      update: (update: SessionUpdate) => client.notify('session/update', { sessionId, update }),
      ask: (toolCall, choices) =>
        client.request('session/request_permission', { sessionId, toolCall, options: choices }),
    };
    try {
      await runDirective(text, directives);
      return { stopReason: turn.signal.aborted ? ('cancelled' as const) : ('end_turn' as const) };
    } catch (error) {
      if (turn.signal.aborted) return { stopReason: 'cancelled' as const };
      throw error;
    }
  }

  const connection = agent({ name: 'kaiwu-demo' })
    .onRequest('initialize', () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'kaiwu-demo', title: 'Demo agent', version: options.version },
      agentCapabilities: { loadSession: false },
    }))
    .onRequest('session/new', ({ params }) => {
      const sessionId = options.newId();
      sessions.set(sessionId, { directory: params.cwd, mcpServers: params.mcpServers, model: 'demo-1' });
      return {
        sessionId,
        modes: { currentModeId: 'ask-first', availableModes: MODES },
        configOptions: [modelOption('demo-1')],
      };
    })
    .onRequest('session/set_mode', ({ params }) => {
      sessionOf(params.sessionId);
      if (!MODES.some((mode) => mode.id === params.modeId))
        throw RequestError.invalidParams({ modeId: params.modeId });
      return {};
    })
    .onRequest('session/set_config_option', ({ params }) => {
      const session = sessionOf(params.sessionId);
      const model = MODELS.find(({ value }) => value === params.value);
      if (params.configId !== 'model' || model === undefined) throw RequestError.invalidParams(params);
      session.model = model.value;
      return { configOptions: [modelOption(model.value)] };
    })
    .onRequest('session/prompt', ({ params, client }) => {
      const text = params.prompt.map((part) => (part.type === 'text' ? part.text : '')).join('');
      return prompt(params.sessionId, text, client);
    })
    .onNotification('session/cancel', ({ params }) => sessions.get(params.sessionId)?.turn?.abort())
    .connect(
      ndJsonStream(
        Writable.toWeb(options.output),
        Readable.toWeb(options.input) as ReadableStream<Uint8Array>,
      ),
    );
  await connection.closed;
}
