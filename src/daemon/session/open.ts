import type { SessionEventBody } from '../../core/session.ts';
import { type AgentListener, type AgentSession, openAgentSession } from '../acp/agent-session.ts';
import type { StoredSession } from '../journal/rows.ts';
import { toBoundedConfig, toBoundedOptions } from './bounded.ts';
import type { SessionContext } from './context.ts';
import { createSessionLog } from './log.ts';
import { toReason } from './reason.ts';
import { REPLAY_CHARS, toReplay } from './replay.ts';
import { toForkId } from './start-params.ts';
import { prepareWorkspace, undoWorkspace, type Workspace } from './workspace.ts';

/** An agent that is ready, and what is to be stored about that. */
export interface OpenedAgent {
  agent: AgentSession;
  events: SessionEventBody[];
  /** The conversation so far, which the agent does not know. */
  replay?: string;
}

/**
 * Starts the agent of a session. What a first start made is taken back when it fails.
 * @throws session_directory_unavailable | agent_not_available | agent_failed | unsupported | invalid_input | conflict
 */
export async function openStored(
  context: SessionContext,
  session: StoredSession,
  listener: Omit<AgentListener, 'onOutput'>,
  signal: AbortSignal,
): Promise<OpenedAgent> {
  try {
    return await open(context, session, listener, signal);
  } catch (error) {
    await undoWorkspace(context, session.sessionId);
    context.onSessionEnded(session.sessionId);
    throw error;
  }
}

async function open(
  context: SessionContext,
  session: StoredSession,
  listener: Omit<AgentListener, 'onOutput'>,
  signal: AbortSignal,
): Promise<OpenedAgent> {
  const { sessionId, permissionMode, acpSessionId } = session;
  const { limits, runtime } = context;
  const begun = runtime.monotonicMs();
  const found = context.registry.find(session.agentId);
  const forkOf = acpSessionId === undefined ? toForkId(context.journal, session) : undefined;
  const workspace = await prepareWorkspace(context, session);
  const { directory } = workspace;
  const log = createSessionLog({ directory: context.sessionLogs, sessionId, now: runtime.now });
  const agent = await openAgentSession({
    sessionId,
    agent: found,
    directory,
    additionalDirectories: session.additionalDirectories,
    environment: session.environment,
    permissionMode,
    modelId: acpSessionId === undefined ? session.modelId : undefined,
    acpSessionId,
    forkOf,
    mcpServers: await context.mcpServers({
      sessionId,
      agentId: session.agentId,
      directory,
      servers: session.mcpServers,
    }),
    version: context.version,
    // What the workspace took is missing here, in tenths of a second, as people are told of it.
    startLimitMs: Math.max(limits.startMs - Math.floor((runtime.monotonicMs() - begun) / 100) * 100, 100),
    controlLimitMs: limits.controlMs,
    maxLineBytes: limits.maxLineBytes,
    graces: limits.graces,
    guardian: context.guardian,
    listener: { ...listener, onOutput: log.write },
    onSpawned: (pid) => context.journal.setProcess(sessionId, { pid, startTime: context.startTime(pid) }),
    signal,
  });
  const lacks = acpSessionId === undefined ? [] : await restore(agent, session);
  const replay = agent.resumed === 'without_history' ? await fetchReplay(context, sessionId) : undefined;
  const events = [
    toStarted(context, session, agent, workspace, replay !== undefined),
    ...toNotices(agent, replay !== undefined),
    ...lacks,
  ];
  return { agent, events, replay };
}

/** Model and settings as they were. One may have gone since; that is no reason not to go on. */
async function restore(agent: AgentSession, session: StoredSession): Promise<SessionEventBody[]> {
  const lacks: SessionEventBody[] = [];
  const lacking = (error: unknown) => void lacks.push({ type: 'notice', text: toReason(error).message });
  if (session.modelId !== undefined) await agent.setModel(session.modelId).catch(lacking);
  for (const { configId, value } of session.configOptions) {
    const now = agent.configOptions().find((option) => option.configId === configId);
    // One that it does not offer at the moment may depend on another one.
    if (now !== undefined && now.value !== value) await agent.setConfigOption(configId, value).catch(lacking);
  }
  return lacks;
}

async function fetchReplay(context: SessionContext, sessionId: string): Promise<string | undefined> {
  const tail = await context.transcriptTail(sessionId, REPLAY_CHARS);
  return tail === undefined ? undefined : toReplay(tail);
}

function toStarted(
  { journal }: SessionContext,
  session: StoredSession,
  agent: AgentSession,
  { directory, worktree }: Workspace,
  isReplayed: boolean,
): SessionEventBody {
  const modelId = agent.currentModel();
  // Nothing else can run now: it waited for a person when its daemon ended.
  const continues = journal.running(session.sessionId)?.messageId;
  return {
    type: 'session_started',
    acpSessionId: agent.acpSessionId,
    permissionMode: session.permissionMode,
    ...(modelId === undefined ? {} : { modelId }),
    models: toBoundedOptions(agent.models()),
    configOptions: toBoundedConfig(agent.configOptions()),
    directory,
    ...(worktree === undefined ? {} : { worktree }),
    resumed: isReplayed ? 'replayed' : agent.resumed,
    ...(continues === undefined ? {} : { continues }),
  };
}

function toNotices(agent: AgentSession, isReplayed: boolean): SessionEventBody[] {
  const texts: string[] = [];
  if (isReplayed) {
    texts.push(
      'The agent could not load this conversation. It is told of it, as text, together with the next message.',
    );
  } else if (agent.resumed === 'without_history') {
    texts.push('The agent could not load this conversation and starts without it.');
  }
  const offered = agent.models();
  const models = toBoundedOptions(offered);
  if (models.length < offered.length) {
    texts.push(`The agent offers ${offered.length} models; ${models.length} of them are listed.`);
  }
  return texts.map((text) => ({ type: 'notice', text }));
}
