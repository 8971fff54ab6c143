import { EventEmitter, once } from 'node:events';
import { KaiwuError } from '../../../src/core/errors.ts';
import type { DaemonMethods, MachineServer } from '../../../src/core/link.ts';
import type {
  RunnableServer,
  ServerState,
  ToolCallResult,
  ToolDefinition,
} from '../../../src/core/managed/managed.ts';
import type { FakeDaemon } from './fake-daemon.ts';

type Params<K extends keyof DaemonMethods> = DaemonMethods[K]['params'];

/** What a daemon answers of managed servers. */
export interface DaemonServers {
  handlers: {
    [K in 'mcp.apply' | 'mcp.call' | 'mcp.test']: (params: Params<K>) => Promise<unknown>;
  };
  notice(method: string, params: unknown): void;
}

const refuse = () => Promise.reject(new KaiwuError('mcp_server_not_found', 'no such server here'));

/** Of a daemon that runs none. */
export const NO_SERVERS: DaemonServers = {
  handlers: { 'mcp.apply': async () => ({}), 'mcp.call': refuse, 'mcp.test': refuse },
  notice: () => undefined,
};

export const tool = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
});

/** Servers of a machine whose every move the test decides. */
export interface FakeServers extends DaemonServers {
  applied: RunnableServer[];
  /** Every call that reached it, whatever tool. */
  calls: Params<'mcp.call'>[];
  canceled: string[];
  /** Emits `apply`, `call` and `cancel`. */
  events: EventEmitter;
  /** What the servers list, by name; the rest list `tools`. */
  tools: Record<string, ToolDefinition[]>;
  /** Servers of the machine's own file. */
  own: MachineServer[];
  /** Answers a call; what it throws is the answer. */
  answer(call: Params<'mcp.call'>): Promise<ToolCallResult> | ToolCallResult;
  /** Further fields of a state, by the server's name. */
  more: Record<string, Partial<ServerState>>;
  attach(daemon: FakeDaemon): void;
  /** Tells the backend how all of them do. */
  tell(): Promise<void>;
  /** Resolves at the next event of the kind. */
  next(event: 'apply' | 'call' | 'cancel'): Promise<void>;
}

export function createFakeServers(): FakeServers {
  let daemon: FakeDaemon | undefined;
  const stateOf = (key: string, name: string): ServerState => ({
    key,
    status: 'ready',
    tools: servers.tools[name] ?? [tool('read'), tool('write')],
    warnings: [],
    noiseLines: 0,
    starts: 1,
    since: '2026-12-01T00:00:00.000Z',
    ...servers.more[name],
  });
  const servers: FakeServers = {
    applied: [],
    calls: [],
    canceled: [],
    events: new EventEmitter(),
    tools: {},
    own: [],
    more: {},
    answer: ({ tool, arguments: args }) => ({
      content: [{ type: 'text', text: `${tool} ${JSON.stringify(args)}` }],
    }),
    handlers: {
      async 'mcp.apply'({ servers: wanted }) {
        servers.applied = wanted;
        servers.events.emit('apply');
        // The answer does not wait for the servers.
        setImmediate(() => void servers.tell());
        return {};
      },
      async 'mcp.call'(call) {
        servers.calls.push(call);
        servers.events.emit('call');
        return servers.answer(call);
      },
      async 'mcp.test'({ key }) {
        const server = servers.applied.find((each) => each.key === key);
        if (server === undefined) return refuse();
        return stateOf(key, server.config.name);
      },
    },
    notice(method, params) {
      if (method !== 'mcp.cancel') return;
      servers.canceled.push((params as { callId: string }).callId);
      servers.events.emit('cancel');
    },
    attach: (to) => {
      daemon = to;
    },
    async tell() {
      const account = servers.applied.map(({ key, config }) => ({ state: stateOf(key, config.name) }));
      await daemon?.peer
        .request('mcp.states', { servers: [...servers.own, ...account] }, 10_000)
        .catch(() => {});
    },
    next: async (event) => {
      await once(servers.events, event);
    },
  };
  return servers;
}

/** A server of the machine's own file. */
export const ownServer = (name: string, tools: ToolDefinition[]): MachineServer => ({
  state: {
    key: `file:${name}`,
    status: 'ready',
    tools,
    warnings: [],
    noiseLines: 0,
    starts: 1,
    since: '2026-12-01T00:00:00.000Z',
  },
  config: { name, command: 'own-server' },
  secrets: ['env.KEY'],
});
