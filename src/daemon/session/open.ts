import type { SessionEventBody } from '../../core/session.ts';
import { type AgentListener, type AgentSession, openAgentSession } from '../acp/agent-session.ts';
import type { StoredSession } from '../journal/rows.ts';
import type { SessionContext } from './context.ts';
import { toBoundedOptions } from './bounded.ts';
import { checkDirectory } from './directory.ts';
import { createSessionLog } from './log.ts';
import { toReason } from './reason.ts';

/**
 * Starts the agent of a session. Answers it with the events that say so.
 * @throws session_directory_unavailable | agent_not_available | agent_failed | unsupported | invalid_input
 */
export async function openStored(
  context: SessionContext,
  session: StoredSession,
  listener: Omit<AgentListener, 'onOutput'>,
  signal: AbortSignal,
): Promise<{ agent: AgentSession; events: SessionEventBody[] }> {
  const { sessionId, directory, permissionMode, acpSessionId } = session;
  await checkDirectory(directory);
  const log = createSessionLog({ directory: context.sessionLogs, sessionId, now: context.runtime.now });
  const again = acpSessionId !== undefined;
  const agent = await openAgentSession({
    sessionId,
    agent: context.registry.find(session.agentId),
    directory,
    permissionMode,
    modelId: again ? undefined : session.modelId,
    acpSessionId,
    mcpServers: context.mcpServers({ sessionId, directory }),
    version: context.version,
    startLimitMs: context.limits.startMs,
    maxLineBytes: context.limits.maxLineBytes,
    graces: context.limits.graces,
    guardian: context.guardian,
    listener: { ...listener, onOutput: log.write },
    onSpawned: (pid) => context.journal.setProcess(sessionId, { pid, startTime: context.startTime(pid) }),
    signal,
  });
  const notices: SessionEventBody[] = [];
  if (agent.resumed === 'without_history') {
    notices.push({
      type: 'notice',
      text: 'The agent could not load this conversation and starts without it.',
    });
  }
  if (again && session.modelId !== undefined) {
    // A model may have gone since; that is no reason not to go on.
    await agent.setModel(session.modelId).catch((error: unknown) => {
      notices.push({ type: 'notice', text: toReason(error).message });
    });
  }
  const offered = agent.models();
  const models = toBoundedOptions(offered);
  if (models.length < offered.length) {
    const text = `The agent offers ${offered.length} models; ${models.length} of them are listed.`;
    notices.push({ type: 'notice', text });
  }
  const modelId = agent.currentModel();
  const started: SessionEventBody = {
    type: 'session_started',
    acpSessionId: agent.acpSessionId,
    permissionMode,
    ...(modelId === undefined ? {} : { modelId }),
    models,
    resumed: agent.resumed,
  };
  return { agent, events: [started, ...notices] };
}
