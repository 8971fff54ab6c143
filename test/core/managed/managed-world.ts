import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import * as z from 'zod';
import { createSqliteStore } from '../../../src/backend/store/sqlite/create-sqlite-store.ts';
import type { BackendStore } from '../../../src/backend/store/store.ts';
import type { ActionCall, Envelope } from '../../../src/core/call.ts';
import { createEngine } from '../../../src/core/create-engine.ts';
import type { ActionEngine, BackendPorts, Identity } from '../../../src/core/engine.ts';
import type { ServerConfig } from '../../../src/core/managed/config.ts';
import { createFurtherActions, type ManagedEntry } from '../../../src/core/managed/further-actions.ts';
import type { ToolCallResult, ToolDefinition } from '../../../src/core/managed/managed.ts';
import { type ToolPin, toPin } from '../../../src/core/managed/pins.ts';
import { toToolStates } from '../../../src/core/managed/tool-states.ts';
import type { PolicyPatch } from '../../../src/core/policy.ts';
import type { DiscoveryPort } from '../../../src/core/ports/discovery.ts';
import type { ApprovalsPort, GrantsPort } from '../../../src/core/ports/governance.ts';
import type { ActionData, AnyAction, Surface } from '../../../src/core/spec.ts';
import { defineAction, forwarded } from '../../../src/core/spec.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { createValidators } from '../../../src/managed/validate.ts';
import { createTestRuntime, type TestRuntime } from '../../backend/store/databases.ts';

/** A managed server as the backend keeps it, and the calls that came to it. */
export interface FakeServer {
  config: ServerConfig;
  tools: ToolDefinition[];
  pins: Map<string, ToolPin>;
  calls: { tool: string; args: unknown }[];
  answer: ToolCallResult;
}

interface ManagedWorld {
  store: BackendStore;
  runtime: TestRuntime;
  engine: ActionEngine;
  servers: Map<string, FakeServer>;
  approvals: ApprovalsPort;
  grants: GrantsPort;
  discovery: DiscoveryPort;
}

export const w = {} as ManagedWorld;

export const tool = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { place: { type: 'string' } } },
  ...more,
});

/** Adds a server, or changes one. Its tools are trusted at first, as they are when a person adds it. */
export function setServer(name: string, change: Partial<FakeServer>): FakeServer {
  const before = w.servers.get(name);
  const tools = change.tools ?? before?.tools ?? [];
  const server: FakeServer = {
    config: { url: 'http://127.0.0.1:9' },
    pins: new Map(tools.map((definition) => [definition.name, toPin(definition, w.runtime.sha256)])),
    calls: [],
    answer: { content: [{ type: 'text', text: 'done' }] },
    ...before,
    ...change,
    tools,
  };
  w.servers.set(name, server);
  revision++;
  return server;
}

let revision = 0;

const base: Omit<ActionData, 'id' | 'approvals'> = {
  title: { en: 'Test', 'zh-CN': '测试' },
  summary: 'Use to test.',
  effect: 'write',
  idempotent: false,
  openWorld: false,
  keywords: { en: [], 'zh-CN': [] },
  examples: [],
  errors: [],
  session: 'none',
  anySession: true,
  surfaces: {
    app: { exposure: 'direct' },
    cli: { exposure: 'direct' },
    mcp: { exposure: 'direct' },
    agent: { exposure: 'direct' },
  },
};

const natives: AnyAction[] = [
  defineAction({
    ...base,
    id: 'note.any',
    approvals: 'never',
    forward: { action: '{actionId}', inputField: 'input' },
    input: z.object({ actionId: z.string(), input: z.looseObject({}).default({}) }),
    output: z.looseObject({}),
    run: forwarded,
  }),
  defineAction({
    ...base,
    id: 'tool.call',
    approvals: 'never',
    forward: { action: 'managed.{server}.{tool}', inputField: 'arguments' },
    input: z.object({ server: z.string(), tool: z.string(), arguments: z.looseObject({}).default({}) }),
    output: z.looseObject({}),
    run: forwarded,
  }),
  defineAction({
    ...base,
    id: 'note.peek',
    approvals: 'never',
    input: z.object({}),
    output: z.object({}),
    async run({ ports }) {
      const { approvals, grants, discovery } = ports;
      Object.assign(w, { approvals, grants, discovery });
      return {};
    },
  }),
];

function toEntries(): ManagedEntry[] {
  return [...w.servers].map(([name, { config, tools, pins }]) => ({
    key: `key-${name}`,
    name,
    config,
    tools: toToolStates({ server: name, config, tools, pins }, w.runtime.sha256),
  }));
}

const person: Identity = { tokenId: 'tok_1', kind: 'device', deviceId: 'dev_1', scope: {} };

export function useManaged(): void {
  let close: () => Promise<void>;
  beforeEach(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kaiwu-managed-'));
    w.runtime = createTestRuntime();
    w.store = await createSqliteStore(openSqlite(join(folder, 'kaiwu.db')), w.runtime);
    w.servers = new Map();
    close = async () => {
      await w.store.close();
      rmSync(folder, { recursive: true });
    };
    const validatorOf = createValidators();
    w.engine = createEngine({
      actions: natives,
      further: createFurtherActions({ servers: toEntries, revision: () => String(revision), validatorOf }),
      ports: {
        sessions: w.store.sessions,
        policies: w.store.policies,
        audit: w.store.audit,
        managedTools: {
          async call({ key, tool: name }: { key: string; tool: string }, args: unknown) {
            const server = w.servers.get(key.replace('key-', ''));
            server?.calls.push({ tool: name, args });
            return server?.answer;
          },
        },
      } as unknown as BackendPorts,
      approvalStore: w.store.approvals,
      grants: w.store.grants,
      idempotency: w.store.idempotency,
      runtime: w.runtime,
      ownerId: 'owner-1',
      onApprovalChange: (listener) =>
        w.store.feed.subscribe((entry) => entry.type === 'approval.changed' && listener(entry.artifactId)),
      onError(error) {
        throw error;
      },
    });
    await call('note.peek');
  });
  afterEach(() => close());
}

export const call = (
  actionId: string,
  input?: unknown,
  {
    surface = 'cli',
    identity = person,
    ...more
  }: Partial<ActionCall> & { surface?: Surface; identity?: Identity } = {},
): Promise<Envelope> =>
  w.engine.execute(
    { actionId, input, context: { surface }, ...more },
    identity,
    new AbortController().signal,
  );

export const setRules = (rules: PolicyPatch) => w.store.policies.set(rules, undefined, 'test');

export const codeOf = (envelope: Envelope): string =>
  envelope.status === 'error' ? envelope.error.code : envelope.status;
