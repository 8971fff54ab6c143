import type { Approval } from '../../../src/core/approval.ts';
import type { Grant } from '../../../src/core/grant.ts';
import type { LinkHello } from '../../../src/core/link.ts';
import type { AuditRow } from '../../../src/core/ports/governance.ts';
import type { SessionEvent, SessionEventBody } from '../../../src/core/session.ts';
import type { BackendStore, NewSession } from '../../../src/backend/store/store.ts';
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
  inputDigest: `digest of ${artifactId}`,
  requester: { surface: 'mcp', client: 'mcp:test', tokenId: 'tok_1' },
  boundTo: 'bound',
  count: 1,
  createdAt: runtime.now().toISOString(),
  expiresAt: '2026-12-01T12:00:00.000Z',
  ...more,
});

/** Files an approval that nothing keeps from being filed. */
export async function file(store: BackendStore, approval: Approval): Promise<void> {
  await store.approvals.insertOrFold(approval, Number.MAX_SAFE_INTEGER, approval.createdAt);
}

export const newGrant = (grantId: string, runtime: TestRuntime, more: Partial<Grant> = {}): Grant => ({
  grantId,
  artifactId: 'a-1',
  actionId: 'session.stop',
  surface: 'mcp',
  tokenId: 'tok_1',
  pins: { sessionId: { is: 'exact', value: 'sess_a' }, path: { is: 'prefix', value: '/work/place' } },
  createdAt: runtime.now().toISOString(),
  createdBy: 'cli',
  expiresAt: '2026-12-01T12:00:00.000Z',
  uses: 3,
  usesLeft: 3,
  ...more,
});

type NewAuditRow = Omit<AuditRow, 'auditId' | 'hash'>;

export const newAuditRow = (runtime: TestRuntime, more: Partial<NewAuditRow> = {}): NewAuditRow => ({
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
  agents: [
    {
      agentId: 'demo',
      name: 'Demo',
      available: true,
      state: 'ready',
      source: 'built_in',
      permissionModes: ['default'],
      models: [],
    },
  ],
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
