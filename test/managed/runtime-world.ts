import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { managedNetworkOf } from '../../src/app/managed-network.ts';
import type { ServerConfig } from '../../src/core/managed/config.ts';
import type {
  ManagedRuntime,
  RunnableServer,
  ServerState,
  ToolCallResult,
  ToolDefinition,
} from '../../src/core/managed/managed.ts';
import { createManagedRuntime } from '../../src/managed/runtime.ts';

const FAKE = join(import.meta.dirname, 'fakes/server.mjs');

/** How the fake server behaves; everything absent is how a good one does. */
export interface FakeBehaviour {
  /** `new`: only the generation without handshake. */
  era?: 'new';
  atProbe?: 'exit' | 'silent' | -32602;
  discoverMs?: number;
  initialize?: 'never' | 'secret';
  version?: string;
  supported?: string[];
  capabilities?: Record<string, unknown>;
  tools?: (string | Record<string, unknown>)[];
  /** So many tools, each with a description of `weight` bytes. */
  count?: number;
  weight?: number;
  list?: 'error' | 'never' | 'nonsense' | 'same cursor' | 'endless';
  pageSize?: number;
  emptyLists?: number;
  failAfter?: number;
  stderr?: string;
  stderrLines?: number;
  banner?: string;
  exit?: number;
  /** Only the first so many starts exit. */
  exitTimes?: number;
  readyMs?: number;
  child?: boolean;
  deaf?: boolean;
  notReading?: boolean;
  says?: string;
}

export interface JournalEntry {
  start?: number;
  child?: number;
  got?: string;
  id?: unknown;
  params?: Record<string, unknown>;
  end?: boolean;
  signal?: string;
  list?: number;
}

export interface RuntimeWorld {
  runtime: ManagedRuntime;
  folder: string;
  /** Every state that was told, of all servers. */
  told: ServerState[];
  /** Everything that was logged, as text. */
  logged(): string;
  fake(key: string, how?: FakeBehaviour, config?: Partial<ServerConfig>): RunnableServer;
  /** What a fake wrote down. */
  journal(key: string): JournalEntry[];
  state(key: string): ServerState;
  /** Resolves with the first told state of a server, from now on or standing, that is as asked. */
  until(key: string, is: (state: ServerState) => boolean): Promise<ServerState>;
  call(
    key: string,
    tool: string,
    args?: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<ToolCallResult>;
}

export function createRuntimeWorld(
  env: Record<string, string | undefined> = {},
  now: () => Date = () => new Date(),
): RuntimeWorld {
  const folder = mkdtempSync(join(tmpdir(), 'kaiwu-managed-'));
  const told: ServerState[] = [];
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const write = (fields: Record<string, unknown>, message: string) =>
    void lines.push(
      `${message} ${JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? `${value.stack}` : value))}`,
    );
  const runtime = createManagedRuntime({
    now,
    random: () => 0,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    log: { debug: write, info: write, warn: write, error: write },
    network: managedNetworkOf({}),
    version: '0.0.0-test',
    onChange(state) {
      told.push(state);
      for (const look of waiting) look();
    },
  });
  onTestFinished(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const state = (key: string): ServerState => {
    const found = runtime.states().find((one) => one.key === key);
    expect(found, `state of ${key}`).toBeDefined();
    return found!;
  };
  return {
    runtime,
    folder,
    told,
    logged: () => lines.join('\n'),
    fake: (key, how = {}, config = {}) => ({
      key,
      config: {
        name: key,
        command: process.execPath,
        args: [FAKE, JSON.stringify({ ...how, journal: join(folder, `${key}.journal`) })],
        ...config,
      },
    }),
    journal(key) {
      const path = join(folder, `${key}.journal`);
      if (!existsSync(path)) return [];
      const lines = readFileSync(path, 'utf8').split('\n');
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalEntry);
    },
    state,
    until: (key, is) =>
      new Promise((resolve) => {
        const look = () => {
          const now = state(key);
          if (!is(now)) return;
          waiting.delete(look);
          resolve(now);
        };
        waiting.add(look);
        look();
      }),
    call: (key, tool, args = {}, signal = new AbortController().signal) =>
      runtime.call({ key, tool, arguments: args }, signal),
  };
}

export const isReady = (state: ServerState): boolean => state.status === 'ready';
export const hasFailed = (state: ServerState): boolean => state.status === 'failed';
export const namesOf = (tools: ToolDefinition[] | undefined): string[] =>
  (tools ?? []).map(({ name }) => name);

/** The text of a result. */
export const textOf = (result: ToolCallResult): string =>
  result.content.map(({ text }) => text as string).join('');

/** Whether a process lives. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
