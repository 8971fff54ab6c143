import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ConfigOption, Usage } from '../../../src/core/session.ts';
import {
  type AgentSession,
  type AgentSessionOptions,
  openAgentSession,
} from '../../../src/daemon/acp/agent-session.ts';
import { createGuardian } from '../../../src/process/guardian.ts';
import type { QuestionOutcome } from '../../../src/daemon/acp/questions.ts';
import { type AgentDefinition, toAgentTable } from '../../../src/daemon/agents/agents.ts';
import { createAgentRegistry } from '../../../src/daemon/agents/registry.ts';
import { bundle } from '../helpers/bundle.ts';
import { makeHome, QUICK_GRACES } from '../helpers/world.ts';

type Json = Record<string, unknown>;

/** What an agent said, as its owner heard it. */
export interface Heard {
  updates: Json[];
  permissions: Json[];
  questions: Json[];
  settings: ConfigOption[][];
  usages: Usage[];
  modes: unknown[];
  output: string;
  /** Text of the conversation since the last call. */
  reply(): string;
}

/** The demo agent as the product starts it, with a folder for its conversations. */
export async function demoAgent(home: string): Promise<AgentDefinition> {
  const [demo] = toAgentTable({
    execPath: process.execPath,
    path: await bundle('src/app/demo-agent.ts'),
    version: '0.0.0',
    folder: join(home, 'demo'),
  });
  return demo as AgentDefinition;
}

/** Opens one conversation with a real agent process. */
export async function openSession(
  definition: AgentDefinition,
  options: Partial<AgentSessionOptions> & {
    home?: string;
    env?: Record<string, string>;
    /** Kind of the option that answers each permission request. */
    permit?: string;
    answer?(form: Json): QuestionOutcome | Promise<QuestionOutcome>;
  } = {},
): Promise<{ session: AgentSession; heard: Heard; directory: string }> {
  const { home = makeHome(), env = {}, permit = 'allow_once', answer, ...more } = options;
  const directory = join(home, 'workspace');
  mkdirSync(directory, { recursive: true });
  let read = 0;
  const heard: Heard = {
    updates: [],
    permissions: [],
    questions: [],
    settings: [],
    usages: [],
    modes: [],
    output: '',
    reply() {
      const since = heard.updates.slice(read);
      read = heard.updates.length;
      return since
        .filter((update) => update.sessionUpdate === 'agent_message_chunk')
        .map(({ content }) => (content as { text?: string }).text ?? '')
        .join('');
    },
  };
  const registry = createAgentRegistry({
    table: [definition],
    env: { PATH: process.env.PATH, HOME: home, ...env },
    lastModels: () => [],
  });
  const guardian = createGuardian();
  const session = await openAgentSession({
    sessionId: 's1',
    agent: registry.find(definition.agentId),
    directory,
    permissionMode: 'default',
    mcpServers: [],
    version: '0.0.0-test',
    startLimitMs: 20_000,
    controlLimitMs: 20_000,
    maxLineBytes: 32 * 1024 * 1024,
    graces: QUICK_GRACES,
    guardian,
    onSpawned: () => {},
    signal: new AbortController().signal,
    listener: {
      batch: (work) => work(),
      onUpdate: (update) => void heard.updates.push(update),
      async onPermission(params) {
        heard.permissions.push(params);
        const offered = params.options as { optionId: string; kind: string }[];
        const chosen = offered.find(({ kind }) => kind === permit);
        return {
          outcome:
            chosen === undefined
              ? { outcome: 'cancelled' }
              : { outcome: 'selected', optionId: chosen.optionId },
        };
      },
      async onQuestion(params) {
        heard.questions.push(params);
        return (await answer?.(params)) ?? { action: 'cancel' };
      },
      onModeChanged: (...change) => void heard.modes.push(change),
      onModelChanged: () => {},
      onConfigOptions: (settings) => void heard.settings.push(settings),
      onUsage: (usage) => void heard.usages.push(usage),
      onTitle: () => {},
      onOutput: (_kind, text) => {
        heard.output += text;
      },
    },
    ...more,
  });
  onTestFinished(async () => {
    await session.end();
    guardian.close();
  });
  return { session, heard, directory };
}
