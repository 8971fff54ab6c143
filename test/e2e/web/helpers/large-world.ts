import { join } from 'node:path';
import type { Approval } from '../../../../src/core/approval.ts';
import type { SessionEvent } from '../../../../src/core/session.ts';
import { openWorld, type World } from '../../../backend/helpers/world.ts';

const dist = join(import.meta.dirname, '../../../../dist/web');

/** A backend in this process that serves the app over a store with much in it. */
export interface LargeWorld {
  world: World;
  sessionId: string;
  link(): Promise<string>;
}

export async function openLargeWorld(amounts: {
  sessions: number;
  approvals: number;
  events: number;
}): Promise<LargeWorld> {
  const world = await openWorld({ webFolder: dist });
  const { store } = world;
  const { token } = await world.signIn();
  const add = async (i: number) => {
    const sessionId = `sess_${String(i).padStart(16, '0')}`;
    const directory = `/projects/number-${i}`;
    const settings = { agentId: 'demo', machineId: 'mach_one', permissionMode: 'default' as const };
    await store.sessions.insert({ sessionId, directory, title: `Session number ${i}`, ...settings });
    return sessionId;
  };
  const ids: string[] = [];
  for (let i = 0; i < amounts.sessions; i++) ids.push(await add(i));
  for (let i = 0; i < amounts.approvals; i++) {
    const approval = toApproval(i, ids[i % ids.length]!);
    await store.approvals.insertOrFold(approval, Number.MAX_SAFE_INTEGER, approval.createdAt);
  }
  const sessionId = ids[0]!;
  for (let from = 1; from <= amounts.events; from += 500) {
    const events = Array.from({ length: Math.min(500, amounts.events - from + 1) }, (_, i) =>
      toEvent(from + i),
    );
    await store.transcripts.append(sessionId, events);
  }
  return {
    world,
    sessionId,
    async link() {
      const answer = await world.post('/v1/auth/app-link', {}, { token });
      return ((await answer.json()) as { url: string }).url;
    },
  };
}

const toApproval = (i: number, sessionId: string): Approval => ({
  artifactId: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
  actionId: 'session.title.set',
  summary: `Set the title (title: "Title ${i}")`,
  status: 'pending',
  input: { sessionId, title: `Title ${i}` },
  inputDigest: `digest ${i}`,
  requester: { surface: 'mcp', client: 'mcp:test', tokenId: `tok_${i}` },
  sessionId,
  boundTo: 'bound',
  count: 1,
  createdAt: new Date(Date.now() - i * 1000).toISOString(),
  expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
});

/** Turns of ten events each: a message, words, steps and an end. */
function toEvent(seq: number): SessionEvent {
  const at = new Date().toISOString();
  const turn = Math.floor((seq - 1) / 10);
  const messageId = `msg_${turn}`;
  const step = (seq - 1) % 10;
  if (step === 0) return { seq, at, type: 'user_message', messageId, text: `Message of turn ${turn}` };
  if (step === 9) return { seq, at, type: 'turn_ended', messageId, outcome: 'completed' };
  if (step % 2 === 0) {
    const text = `Words ${seq}. ${'More of them, so that lines break. '.repeat(4)}`;
    return { seq, at, type: 'agent_text', messageId, block: step, text };
  }
  const content = {
    content: [{ type: 'diff', path: `/a/${seq}.ts`, oldText: 'a\nb\nc', newText: 'a\nB\nc' }],
  };
  const call = {
    toolCallId: `call_${seq}`,
    title: `Edit ${seq}`,
    kind: 'edit',
    status: 'completed',
    content,
  };
  return { seq, at, type: 'tool_call', messageId, ...call };
}
