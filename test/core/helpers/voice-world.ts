import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { createSqliteStore } from '../../../src/backend/store/sqlite/create-sqlite-store.ts';
import type { BackendStore } from '../../../src/backend/store/store.ts';
import type { ActionCall, CallContext, Confirmation, Envelope } from '../../../src/core/call.ts';
import { createEngine } from '../../../src/core/create-engine.ts';
import type { BackendPorts, Identity } from '../../../src/core/engine.ts';
import type { ApprovalsPort, GrantsPort } from '../../../src/core/ports/governance.ts';
import type { ActionData, AnyAction } from '../../../src/core/spec.ts';
import { defineAction, forwarded } from '../../../src/core/spec.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { createTestRuntime, type TestRuntime } from '../../backend/store/databases.ts';
import { newSession } from '../../backend/store/make.ts';

const voice = { voice: { exposure: 'direct' } } as const;
const data = (id: string, more: Partial<ActionData> = {}): ActionData => ({
  id,
  title: { en: `Do ${id.split('.')[1]}`, 'zh-CN': '做一件事' },
  summary: 'Use to test.',
  effect: 'write',
  idempotent: false,
  openWorld: false,
  surfaces: { app: { exposure: 'direct' }, cli: { exposure: 'direct' }, ...voice },
  approvals: 'default',
  session: 'none',
  keywords: { en: [], 'zh-CN': [] },
  examples: [],
  errors: [],
  ...more,
});

export interface VoiceWorld {
  store: BackendStore;
  runtime: TestRuntime;
  /** What `memo.add` and `memo.name` did. */
  effects: string[];
  approvals: ApprovalsPort;
  grants: GrantsPort;
  /** `memo.add` waits for it. */
  gate: Promise<void>;
  entered(): void;
  /** As the voice, unless the context says otherwise. */
  say(
    actionId: string,
    input?: unknown,
    more?: Partial<ActionCall>,
    context?: Partial<CallContext>,
  ): Promise<Envelope>;
  /** What the first call answers. */
  hear(
    actionId: string,
    input?: unknown,
    context?: Partial<CallContext>,
  ): Promise<Confirmation & { artifactId: string }>;
  /** Another process over the same store. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export const token: Identity = { tokenId: 'tok_voice', kind: 'voice', scope: { surfaces: ['voice'] } };

export async function openVoiceWorld(): Promise<VoiceWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'kaiwu-voice-'));
  const file = join(folder, 'kaiwu.db');
  const runtime = createTestRuntime();
  const store = await createSqliteStore(openSqlite(file), runtime);
  await store.sessions.insert(newSession('sess_abcdefgh12345678'));
  await store.sessions.insert(newSession('sess_other00000000'));
  let starts = 0;

  const actions: AnyAction[] = [
    defineAction({
      ...data('memo.add'),
      secrets: ['pin'],
      input: z.object({
        text: z.string().min(1),
        loud: z.boolean().default(false),
        pin: z.string().optional(),
      }),
      output: z.object({ text: z.string() }),
      async run({ input }) {
        world.entered();
        await world.gate;
        world.effects.push(input.text);
        return { text: input.text };
      },
    }),
    defineAction({
      ...data('memo.name', { session: { need: 'required', field: 'sessionId' }, effect: 'destructive' }),
      input: z.object({ sessionId: z.string().optional(), name: z.string() }),
      output: z.object({}),
      async run({ input }) {
        world.effects.push(`${input.sessionId} ${input.name}`);
        return {};
      },
    }),
    defineAction({
      ...data('memo.floor', { approvals: { always: ['voice'] } }),
      input: z.object({}),
      output: z.object({}),
      run: async () => ({}),
    }),
    defineAction({
      ...data('memo.list', { effect: 'read' }),
      input: z.object({}),
      output: z.object({ memos: z.array(z.string()) }),
      async run({ ports }) {
        Object.assign(world, { approvals: ports.approvals, grants: ports.grants });
        return { memos: world.effects };
      },
    }),
    defineAction({
      ...data('memo.any', { approvals: 'never' }),
      forward: { action: '{actionId}', inputField: 'input' },
      input: z.object({ actionId: z.string(), input: z.looseObject({}).default({}) }),
      output: z.looseObject({}),
      run: forwarded,
    }),
  ];

  const makeEngine = () =>
    createEngine({
      actions,
      ports: {
        sessions: store.sessions,
        policies: store.policies,
        audit: store.audit,
      } as unknown as BackendPorts,
      approvalStore: store.approvals,
      grants: store.grants,
      idempotency: store.idempotency,
      runtime,
      ownerId: `owner-${starts++}`,
      onApprovalChange: (listener) =>
        store.feed.subscribe((entry) => entry.type === 'approval.changed' && listener(entry.artifactId)),
      onError: (error) => {
        throw error;
      },
    });
  let engine = makeEngine();

  const world: VoiceWorld = {
    store,
    runtime,
    effects: [],
    approvals: undefined as unknown as ApprovalsPort,
    grants: undefined as unknown as GrantsPort,
    gate: Promise.resolve(),
    entered: () => {},
    say: (actionId, input, more, context) =>
      engine.execute(
        { actionId, input, context: { surface: 'voice', client: 'kitchen', ...context }, ...more },
        token,
        new AbortController().signal,
      ),
    async hear(actionId, input, context) {
      const envelope = await world.say(actionId, input, {}, context);
      if (envelope.status !== 'approval_required' || envelope.confirmation === undefined) {
        throw new Error(`nothing to hear: ${JSON.stringify(envelope)}`);
      }
      return { ...envelope.confirmation, artifactId: envelope.approval.artifactId };
    },
    async restart() {
      engine = makeEngine();
      await engine.recover();
      await engine.resume();
      await world.say('memo.list');
    },
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
  await world.say('memo.list');
  return world;
}
