import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createRuntime } from '../../../src/app/runtime.ts';
import type { Logger, SqliteHandle } from '../../../src/core/ports/host.ts';
import type { DaemonMethods } from '../../../src/core/link.ts';
import { type AgentDefinition, toAgentTable } from '../../../src/daemon/agents/agents.ts';
import { createDaemon, type Daemon } from '../../../src/daemon/daemon.ts';
import type { DaemonOptions } from '../../../src/daemon/options.ts';
import { createProcessTable } from '../../../src/local/process-table.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { bundle } from './bundle.ts';
import { managedOptions } from './managed.ts';
import { createFakeBackend, type FakeBackend, TOKEN } from './fake-backend.ts';

export const MACHINE = { machineId: 'mach_test', name: 'test', platform: 'test' };

/** Short limits, so that tests of limits need not wait. */
export const QUICK_LINK = { backoffMinMs: 30, backoffMaxMs: 200, signInMs: 100 };
export const QUICK_GRACES = { inputEndMs: 300, termMs: 300 };

export interface Line {
  level: string;
  fields: Record<string, unknown>;
  message: string;
}

export interface World {
  home: string;
  workspace: string;
  backend: FakeBackend;
  daemon: Daemon;
  db: SqliteHandle;
  lines: Line[];
  fatal: Error[];
  start(
    sessionId: string,
    agentId?: string,
    more?: Partial<DaemonMethods['session.start']['params']>,
  ): Promise<unknown>;
  send(
    sessionId: string,
    text: string,
    more?: Partial<DaemonMethods['session.deliver']['params']>,
  ): Promise<string>;
  /** Sends and waits for the turn's end; answers outcome, reason and the text of the last block. */
  turn(
    sessionId: string,
    text: string,
    more?: Parameters<World['send']>[2],
  ): Promise<{ outcome: string; reply: string; reason?: string; stopReason?: string }>;
  log(sessionId: string): string;
}

export function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'kaiwu-daemon-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return home;
}

const FAKE = join(import.meta.dirname, '../fakes/agent.mjs');

/** A fake agent that behaves as its name says; see `fakes/agent.mjs`. */
export const fakeAgent = (behaviour: string, more: Partial<AgentDefinition> = {}): AgentDefinition => ({
  agentId: behaviour,
  name: `Fake ${behaviour}`,
  command: process.execPath,
  args: [FAKE, behaviour],
  inherit: [],
  env: {},
  modes: { default: ['one'], accept_edits: ['two'], bypass: ['three'] },
  models: [],
  ...more,
});

export const collectLog = (lines: Line[]): Logger => {
  const at = (level: string) => (fields: Record<string, unknown>, message: string) =>
    void lines.push({ level, fields, message });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
};

/** A daemon in this process, linked to a fake backend, with a database of its own. */
export async function createWorld(
  options: {
    agents?: AgentDefinition[];
    /** Agents that the person added. */
    added?: AgentDefinition[];
    limits?: DaemonOptions['limits'];
    link?: Partial<DaemonOptions['link']>;
    env?: Record<string, string>;
    mcpServers?: DaemonOptions['agents']['mcpServers'];
    onSessionEnded?: DaemonOptions['agents']['onSessionEnded'];
    /** The demo agent keeps its conversations, as it does where it is installed. */
    demoKeeps?: boolean;
    /** It runs managed MCP servers: those of this path or text, and what it is told to. */
    mcpServersFile?: string;
    home?: string;
    backend?: FakeBackend;
    linked?: boolean;
  } = {},
): Promise<World> {
  const home = options.home ?? makeHome();
  const workspace = join(home, 'workspace');
  mkdirSync(workspace, { recursive: true });
  const backend = options.backend ?? (await createFakeBackend());
  const lines: Line[] = [];
  const fatal: Error[] = [];
  const db = openSqlite(join(home, 'daemon.db'));
  const daemon = createDaemon({
    db,
    link: { url: backend.url, token: () => TOKEN, limits: QUICK_LINK, ...options.link },
    machine: MACHINE,
    version: '0.0.0-test',
    runtime: createRuntime(),
    random: Math.random,
    log: collectLog(lines),
    processTable: createProcessTable(),
    agents: {
      table: [
        ...toAgentTable({
          execPath: process.execPath,
          path: await bundle('src/app/demo-agent.ts'),
          version: '0.0.0',
          ...(options.demoKeeps === true ? { folder: join(home, 'demo') } : {}),
        }),
        ...(options.agents ?? []),
      ],
      added: () => options.added ?? [],
      env: { PATH: process.env.PATH, HOME: home, ...options.env },
      mcpServers: options.mcpServers,
      onSessionEnded: options.onSessionEnded,
    },
    ...(options.mcpServersFile === undefined
      ? {}
      : { managed: managedOptions(home, options.mcpServersFile, collectLog(lines)) }),
    sessionLogs: join(home, 'logs'),
    limits: { graces: QUICK_GRACES, ...options.limits },
    onFatal: (error) => fatal.push(error),
  });
  onTestFinished(async () => {
    await daemon.stop({ graceMs: 0 });
    db.close();
    if (options.backend === undefined) await backend.stop();
  });
  await daemon.start();
  if (options.linked !== false) await backend.linked();

  const send: World['send'] = async (sessionId, text, more = {}) => {
    const { messageId = createRuntime().newId('msg'), ...overrides } = more;
    await backend.request('session.deliver', { sessionId, messageId, text, ...overrides });
    return messageId;
  };
  return {
    home,
    workspace,
    backend,
    daemon,
    db,
    lines,
    fatal,
    send,
    start: (sessionId, agentId = 'demo', more = {}) =>
      backend.request('session.start', {
        sessionId,
        agentId,
        directory: workspace,
        permissionMode: 'default',
        ...more,
      }),
    async turn(sessionId, text, more) {
      const messageId = await send(sessionId, text, more);
      const end = await backend.event(sessionId, 'turn_ended', (event) => event.messageId === messageId);
      const texts = backend
        .events(sessionId)
        .flatMap((event) => (event.type === 'agent_text' && event.messageId === messageId ? [event] : []));
      const block = texts.at(-1)?.block;
      return {
        outcome: end.outcome,
        reason: end.reason?.message,
        stopReason: end.stopReason,
        reply: texts
          .filter((text) => text.block === block)
          .map((text) => text.text)
          .join(''),
      };
    },
    log: (sessionId) => readFileSync(join(home, 'logs', `${sessionId}.log`), 'utf8'),
  };
}

/** Events in the order of their numbers, without gaps or doubles, are what every test ends with. */
export const assertGapless = (events: { seq: number }[]): void => {
  const wrong = events.findIndex((event, i) => event.seq !== i + 1);
  if (wrong >= 0) throw new Error(`event ${wrong + 1} has the number ${events[wrong]?.seq}`);
};
