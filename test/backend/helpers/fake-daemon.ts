import { EventEmitter, once } from 'node:events';
import { WebSocket } from 'ws';
import { KaiwuError } from '../../../src/core/errors.ts';
import type { BackendMethods, DaemonMethods, LinkHello, LinkWelcome } from '../../../src/core/link.ts';
import { createRpcPeer, type RpcPeer } from '../../../src/core/rpc-peer.ts';
import type { AgentInfo } from '../../../src/core/agent.ts';
import type { SessionEvent, SessionEventBody } from '../../../src/core/session.ts';
import type { Json } from './json.ts';
import { configOptions, started } from './started.ts';
import { NO_FILES } from './no-files.ts';
import { type DaemonServers, NO_SERVERS } from './fake-servers.ts';

/** A small peer that speaks the machine link: each session runs its messages in order and echoes them. */
export interface FakeDaemonOptions {
  url: string;
  token: string;
  machineId: string;
  instanceId: string;
  agents: AgentInfo[];
  autoPong: boolean;
  /** Its managed MCP servers. */
  servers: DaemonServers;
  /** What the agent says to a message; undefined holds the turn, and so does any message that begins with `hold`. */
  reply(text: string): string | undefined;
  /** Called before each request is worked on; what it throws is the answer. */
  before(method: keyof DaemonMethods, params: Record<string, Json>): void | Promise<void>;
  /** Called when a request has been worked on, before it is answered. */
  after(method: keyof DaemonMethods, params: Record<string, Json>): void | Promise<void>;
}

interface FakeSession {
  events: SessionEvent[];
  messages: { messageId: string; text: string }[];
  acked: number;
  /** Turns, one after the other. */
  turns: Promise<void>;
}

export interface FakeDaemon {
  /** What it answers to an archiving. */
  archived: DaemonMethods['session.archive']['result'];
  sessions: Map<string, FakeSession>;
  /** Every request that arrived, resent ones too; those about managed servers are `servers`' own. */
  requests: { method: string; params: Record<string, Json> }[];
  /** Emits `close` (code, reason) and `request` (method, params). */
  events: EventEmitter;
  ws: WebSocket;
  peer: RpcPeer<BackendMethods>;
  connect(hello?: Partial<LinkHello>): Promise<LinkWelcome>;
  /** Records events of a session and sends what the backend lacks. */
  record(sessionId: string, ...bodies: SessionEventBody[]): Promise<void>;
  /** Cuts the connection without a goodbye. */
  drop(): Promise<void>;
  end(): void;
}

export const demoAgent: AgentInfo = {
  agentId: 'demo',
  name: 'Demo',
  available: true,
  state: 'ready',
  source: 'built_in',
  permissionModes: ['default', 'read_only', 'bypass'],
  models: [{ id: 'small', name: 'Small' }],
};

export function createFakeDaemon(
  given: Partial<FakeDaemonOptions> & { url: string; token: string },
): FakeDaemon {
  const options: FakeDaemonOptions = {
    machineId: 'mach_one',
    instanceId: 'instance-1',
    agents: [demoAgent],
    autoPong: true,
    servers: NO_SERVERS,
    reply: (text) => `echo ${text}`,
    before() {},
    after() {},
    ...given,
  };
  const sessions = new Map<string, FakeSession>();
  const must = (sessionId: string): FakeSession => {
    const session = sessions.get(sessionId);
    if (session === undefined) throw new KaiwuError('session_not_found', `no session ${sessionId} here`);
    return session;
  };

  async function flush(sessionId: string): Promise<void> {
    const session = must(sessionId);
    const events = session.events.slice(session.acked);
    if (events.length === 0) return;
    // What the link loses is sent again after the next welcome.
    const answer = await daemon.peer
      .request('events.append', { sessionId, events }, 10_000)
      .catch(() => undefined);
    session.acked = Math.max(session.acked, answer?.ackedSeq ?? 0);
  }

  async function turn(sessionId: string, { messageId, text }: FakeSession['messages'][number]) {
    const reply = options.reply(text);
    await daemon.record(
      sessionId,
      { type: 'user_message', messageId, text },
      { type: 'agent_text', messageId, block: 1, text: reply ?? 'a moment' },
    );
    if (reply === undefined || text.startsWith('hold')) return;
    await daemon.record(sessionId, { type: 'turn_ended', messageId, outcome: 'completed' });
  }

  /** What each request does here; the answer follows. */
  const work: { [K in keyof DaemonMethods]: (params: DaemonMethods[K]['params']) => Promise<unknown> } = {
    ...NO_FILES,
    ...options.servers.handlers,
    async 'session.start'({ sessionId, permissionMode }) {
      if (!sessions.has(sessionId)) {
        sessions.set(sessionId, { events: [], messages: [], acked: 0, turns: Promise.resolve() });
        await daemon.record(sessionId, { ...started, permissionMode } as SessionEventBody);
      }
      return {};
    },
    async 'session.deliver'({ sessionId, messageId, text, delivery }) {
      const session = must(sessionId);
      if (session.messages.some((message) => message.messageId === messageId)) return {};
      const running = session.messages.at(-1);
      if (delivery === 'steer' && running !== undefined) {
        session.messages.push({ messageId, text });
        void daemon.record(
          sessionId,
          { type: 'user_message', messageId, text, steered: running.messageId },
          { type: 'turn_ended', messageId: running.messageId, outcome: 'completed' },
          { type: 'turn_ended', messageId, outcome: 'completed' },
        );
        return {};
      }
      session.messages.push({ messageId, text });
      // The answer does not wait for the turn.
      setImmediate(() => {
        session.turns = session.turns.then(() => turn(sessionId, { messageId, text }));
      });
      return {};
    },
    // Events leave before the answer; neither waits until the backend has them.
    async 'session.interrupt'({ sessionId }) {
      const running = must(sessionId).messages.at(-1);
      if (running === undefined) return { interrupted: false };
      const { messageId } = running;
      const reason = { code: 'canceled', message: 'interrupted' };
      void daemon.record(sessionId, { type: 'turn_ended', messageId, outcome: 'canceled', reason });
      return { interrupted: true };
    },
    async 'session.stop'({ sessionId }) {
      must(sessionId);
      void daemon.record(sessionId, { type: 'session_stopped' });
      return {};
    },
    async 'session.set_mode'({ sessionId, permissionMode }) {
      void daemon.record(sessionId, { type: 'mode_changed', permissionMode });
      return {};
    },
    async 'session.set_model'({ sessionId, modelId }) {
      void daemon.record(sessionId, { type: 'model_changed', modelId });
      return {};
    },
    async 'session.answer'({ sessionId, requestId, optionId, by }) {
      const messageId = must(sessionId).messages.at(-1)?.messageId ?? '';
      void daemon.record(sessionId, {
        type: 'permission_resolved',
        messageId,
        requestId,
        ...(optionId === undefined ? {} : { optionId }),
        outcome: optionId === undefined ? 'refused' : 'allowed',
        by,
      });
      return {};
    },
    async 'session.answer_question'({ sessionId, requestId, answer, by }) {
      const messageId = must(sessionId).messages.at(-1)?.messageId ?? 'none';
      void daemon.record(sessionId, { type: 'question_answered', messageId, requestId, answer, by });
      return {};
    },
    async 'session.set_config_option'({ sessionId, configId, value }) {
      const changed = configOptions.map((one) => (one.configId === configId ? { ...one, value } : one));
      void daemon.record(sessionId, { type: 'config_options_changed', configOptions: changed });
      return {};
    },
    async 'session.archive'({ sessionId }) {
      must(sessionId);
      return daemon.archived;
    },
    async 'agents.list'() {
      return { agents: options.agents };
    },
  };

  const handle = (method: keyof DaemonMethods) => async (params: Json) => {
    if (!method.startsWith('mcp.')) {
      daemon.requests.push({ method, params });
      daemon.events.emit('request', method, params);
    }
    await options.before(method, params);
    const result = await work[method](params as never);
    await options.after(method, params);
    return result as never;
  };
  const handlers = Object.fromEntries(
    (Object.keys(work) as (keyof DaemonMethods)[]).map((method) => [method, handle(method)]),
  ) as never;

  const daemon: FakeDaemon = {
    archived: { worktree: 'none' },
    sessions,
    requests: [],
    events: new EventEmitter(),
    ws: undefined as unknown as WebSocket,
    peer: undefined as unknown as RpcPeer<BackendMethods>,
    async connect(hello = {}) {
      const ws = new WebSocket(`${options.url.replace('http', 'ws')}/v1/link`, {
        headers: { authorization: `Bearer ${options.token}` },
        autoPong: options.autoPong,
        perMessageDeflate: false,
      });
      const peer = createRpcPeer<DaemonMethods, BackendMethods>({
        send: (text) => ws.readyState === ws.OPEN && ws.send(text),
        handlers,
        onNotice: options.servers.notice,
      });
      daemon.ws = ws;
      daemon.peer = peer;
      ws.on('message', (data) => peer.receive((data as Buffer).toString('utf8')));
      ws.on('close', (code, reason) => {
        peer.close();
        daemon.events.emit('close', code, reason.toString());
      });
      await once(ws, 'open');
      ws.on('error', () => {});
      const welcome = await peer.request(
        'hello',
        {
          protocol: 1,
          machineId: options.machineId,
          machineName: 'Test machine',
          platform: 'linux',
          daemonVersion: '1.2.3',
          instanceId: options.instanceId,
          agents: options.agents,
          sessions: [...sessions].map(([sessionId, session]) => ({
            sessionId,
            lastSeq: session.events.length,
          })),
          ...hello,
        },
        10_000,
      );
      for (const { sessionId, ackedSeq } of welcome.sessions) {
        const session = sessions.get(sessionId);
        if (session === undefined) continue;
        session.acked = ackedSeq;
        await flush(sessionId);
      }
      return welcome;
    },
    async record(sessionId, ...bodies) {
      const session = must(sessionId);
      for (const body of bodies) {
        session.events.push({ ...body, seq: session.events.length + 1, at: new Date().toISOString() });
      }
      await flush(sessionId);
    },
    async drop() {
      const closed = once(daemon.events, 'close');
      daemon.ws.terminate();
      await closed;
    },
    end() {
      daemon.ws?.terminate();
    },
  };
  return daemon;
}
