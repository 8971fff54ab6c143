import type { Approval } from '../../../src/core/approval.ts';
import type { LinkHello } from '../../../src/core/link.ts';
import type { AuditRow } from '../../../src/core/ports/governance.ts';
import type { SessionEvent, SessionEventBody } from '../../../src/core/session.ts';
import type { NewSession } from '../../../src/backend/store/store.ts';
import type { TestRuntime } from './databases.ts';

export const newSession = (sessionId: string, more: Partial<NewSession> = {}): NewSession => ({
  sessionId,
  agentId: 'demo',
  machineId: 'mach_one',
  directory: '/work/place',
  permissionMode: 'default',
  ...more,
});

export const newMessage = (messageId: string, sessionId: string, text = 'say hello') => ({
  messageId,
  sessionId,
  text,
  overrides: {},
});

/** Numbers bodies as a daemon does, the first one `from`. */
export const toEvents = (runtime: TestRuntime, from: number, ...bodies: SessionEventBody[]): SessionEvent[] =>
  bodies.map((body, i) => ({ ...body, seq: from + i, at: runtime.now().toISOString() }));

export const agentText = (text: string, block = 1, messageId = 'msg_1'): SessionEventBody => ({
  type: 'agent_text',
  messageId,
  block,
  text,
});

export const started: SessionEventBody = {
  type: 'session_started',
  acpSessionId: 'acp',
  permissionMode: 'plan',
  modelId: 'small',
  models: [{ id: 'small', name: 'Small' }],
  resumed: 'new',
};

export const newApproval = (
  artifactId: string,
  runtime: TestRuntime,
  more: Partial<Approval> = {},
): Approval => ({
  artifactId,
  actionId: 'session.stop',
  summary: 'Stop a session',
  status: 'pending',
  input: { sessionId: 'sess_a', deep: { list: [1, 'zwei', '三', null] } },
  inputDigest: 'digest',
  requester: { surface: 'mcp', client: 'mcp:test', tokenId: 'tok_1' },
  createdAt: runtime.now().toISOString(),
  expiresAt: '2026-12-01T12:00:00.000Z',
  ...more,
});

export const newAuditRow = (
  runtime: TestRuntime,
  more: Partial<AuditRow> = {},
): Omit<AuditRow, 'auditId'> => ({
  at: runtime.now().toISOString(),
  surface: 'cli',
  client: 'cli',
  tokenId: 'tok_1',
  actionId: 'session.list',
  effect: 'read',
  input: { limit: 10 },
  inputDigest: 'digest',
  outcome: 'ok',
  durationMs: 1.5,
  ...more,
});

export const newHello = (machineId: string, more: Partial<LinkHello> = {}): LinkHello => ({
  protocol: 1,
  machineId,
  machineName: machineId,
  platform: 'linux',
  daemonVersion: '0.1.0',
  instanceId: 'one',
  agents: [{ agentId: 'demo', name: 'Demo', available: true, permissionModes: ['default'], models: [] }],
  sessions: [],
  ...more,
});

/** Walks a list page by page. `between` runs after each page. */
export async function readAll<T>(
  list: (page: { limit: number; cursor?: string }) => Promise<{ items: T[]; nextCursor?: string }>,
  limit: number,
  between: () => Promise<unknown> = async () => {},
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await list({ limit, ...(cursor === undefined ? {} : { cursor }) });
    all.push(...page.items);
    cursor = page.nextCursor;
    await between();
  } while (cursor !== undefined);
  return all;
}
