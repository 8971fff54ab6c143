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
import { KaiwuError } from '../../../src/core/errors.ts';
import type { ApprovalStore, IdempotencyStore } from '../../../src/core/ports/stores.ts';
import type { DiscoveryPort } from '../../../src/core/ports/discovery.ts';
import type { PreviewsPort } from '../../../src/core/ports/previews.ts';
import type { ApprovalsPort, GrantsPort } from '../../../src/core/ports/governance.ts';
import type { ActionData, AnyAction, Surface } from '../../../src/core/spec.ts';
import { defineAction, forwarded } from '../../../src/core/spec.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import type { TestRuntime } from '../../backend/store/databases.ts';
import { createTestRuntime } from '../../backend/store/databases.ts';

/** What the tests of one file share; made anew for each test. */
interface EngineWorld {
  /** What `note.add` did. */
  effects: string[];
  /** Thrown by the next `note.add`. */
  failNext?: Error;
  /** `note.add` waits for it. */
  gate: Promise<void>;
  /** Called when `note.add` has begun. */
  entered(): void;
  store: BackendStore;
  engine: ActionEngine;
  runtime: TestRuntime;
  /** What the log would hold. */
  errors: unknown[];
  /** What the engine gives its actions, once `note.peek` was called. */
  approvals: ApprovalsPort;
  grants: GrantsPort;
  discovery: DiscoveryPort;
  previews: PreviewsPort;
}

export const t = { effects: [] as string[] } as EngineWorld;

const base: Pick<
  ActionData,
  'title' | 'summary' | 'openWorld' | 'keywords' | 'examples' | 'errors' | 'approvals' | 'session'
> = {
  title: { en: 'Test', 'zh-CN': '测试' },
  summary: 'Use to test.',
  openWorld: false,
  keywords: { en: [], 'zh-CN': [] },
  examples: [],
  errors: [],
  approvals: 'default',
  session: 'none',
};

const everywhere: ActionData['surfaces'] = {
  app: { exposure: 'direct' },
  cli: { exposure: 'direct' },
  mcp: { exposure: 'direct' },
};

const actions: AnyAction[] = [
  defineAction({
    ...base,
    id: 'note.add',
    effect: 'write',
    idempotent: false,
    surfaces: { ...everywhere, agent: { exposure: 'discoverable', approval: true } },
    secrets: ['pin'],
    aliases: [{ name: 'add_here', omit: ['place'] }],
    input: z.object({ text: z.string().min(1), place: z.string().optional(), pin: z.string().optional() }),
    output: z.object({ text: z.string() }),
    async run({ input, signal }) {
      t.entered();
      await t.gate;
      if (t.failNext !== undefined) throw t.failNext;
      if (signal.aborted) throw new KaiwuError('canceled', 'canceled');
      t.effects.push(input.text);
      return { text: input.text, undeclared: 'dropped' } as { text: string };
    },
  }),
  defineAction({
    ...base,
    id: 'note.touch',
    effect: 'write',
    idempotent: true,
    surfaces: everywhere,
    session: { need: 'required', field: 'sessionId' },
    input: z.object({ sessionId: z.string().optional() }),
    output: z.object({ sessionId: z.string() }),
    run: async ({ input }) => ({ sessionId: input.sessionId! }),
  }),
  defineAction({
    ...base,
    id: 'note.tree',
    effect: 'read',
    idempotent: true,
    surfaces: everywhere,
    session: { need: 'optional', field: 'below' },
    hints: { below: { options: { action: 'note.tree', items: 'sessions', value: 'sessionId' } } },
    input: z.object({ below: z.string().optional() }),
    output: z.object({ sessions: z.array(z.object({ sessionId: z.string() })) }),
    async run({ input, ports }) {
      const { items } = await ports.sessions.list(input, { limit: 50 });
      return { sessions: items };
    },
  }),
  defineAction({
    ...base,
    id: 'note.list',
    effect: 'read',
    idempotent: true,
    surfaces: everywhere,
    input: z.object({}),
    output: z.object({ notes: z.array(z.string()) }),
    run: async () => ({ notes: t.effects }),
  }),
  defineAction({
    ...base,
    id: 'note.wipe',
    effect: 'destructive',
    idempotent: true,
    surfaces: { ...everywhere, agent: { exposure: 'discoverable' } },
    input: z.object({}),
    output: z.object({}),
    run: async () => ({}),
  }),
  defineAction({
    ...base,
    id: 'note.peek',
    effect: 'read',
    idempotent: true,
    surfaces: everywhere,
    input: z.object({}),
    output: z.object({}),
    async run({ ports }) {
      Object.assign(t, {
        approvals: ports.approvals,
        grants: ports.grants,
        discovery: ports.discovery,
        previews: ports.previews,
      });
      return {};
    },
  }),
  defineAction({
    ...base,
    id: 'note.any',
    effect: 'write',
    idempotent: false,
    approvals: 'never',
    surfaces: everywhere,
    forward: { action: '{actionId}', inputField: 'input' },
    input: z.object({ actionId: z.string(), input: z.looseObject({}).default({}) }),
    output: z.looseObject({}),
    run: forwarded,
  }),
  defineAction({
    ...base,
    id: 'note.read',
    effect: 'read',
    idempotent: true,
    approvals: 'never',
    surfaces: everywhere,
    forward: { action: '{actionId}', inputField: 'input', readsOnly: true },
    input: z.object({ actionId: z.string(), input: z.looseObject({}).default({}) }),
    output: z.looseObject({}),
    run: forwarded,
  }),
];

export const identity: Identity = { tokenId: 'tok_1', kind: 'device', deviceId: 'dev_1', scope: {} };
export const never = new AbortController().signal;

/** Another engine over the same store, as after a restart. */
export const makeEngine = (
  ownerId: string,
  approvalStore: ApprovalStore = t.store.approvals,
  idempotency: IdempotencyStore = t.store.idempotency,
): ActionEngine =>
  createEngine({
    actions,
    ports: {
      sessions: t.store.sessions,
      policies: t.store.policies,
      audit: t.store.audit,
    } as unknown as BackendPorts,
    approvalStore,
    grants: t.store.grants,
    idempotency,
    runtime: t.runtime,
    ownerId,
    onApprovalChange: (listener) =>
      t.store.feed.subscribe((entry) => entry.type === 'approval.changed' && listener(entry.artifactId)),
    onError: (error) => t.errors.push(error),
  });

/** Opens it over a store of its own. Answers how to close it. */
export async function openEngineWorld(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'kaiwu-engine-'));
  t.runtime = createTestRuntime();
  const store = await createSqliteStore(openSqlite(join(folder, 'kaiwu.db')), t.runtime);
  t.store = store;
  t.effects.length = 0;
  t.errors = [];
  t.failNext = undefined;
  t.gate = Promise.resolve();
  t.entered = () => {};
  t.engine = makeEngine('owner-1');
  return async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  };
}

/** The engine with a small catalog of its own, over a real store, anew for each test of the file. */
export function useEngine(): void {
  let close: () => Promise<void>;
  beforeEach(async () => {
    close = await openEngineWorld();
  });
  afterEach(() => close());
}

export const call = (
  actionId: string,
  input?: unknown,
  more: Partial<ActionCall> & { surface?: Surface } = {},
) =>
  t.engine.execute(
    { actionId, input, context: { surface: more.surface ?? 'cli' }, ...more },
    identity,
    never,
  );

export const codeOf = (envelope: Envelope) =>
  envelope.status === 'error' ? envelope.error.code : envelope.status;
