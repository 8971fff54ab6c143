import * as z from 'zod';
import type { Caller } from '../../src/core/call.ts';
import { KaiwuError } from '../../src/core/errors.ts';
import { nearest } from '../../src/core/nearest.ts';
import type { ActionPorts } from '../../src/core/ports/index.ts';
import { defineAction } from '../../src/core/spec.ts';
import {
  agentHint,
  directory,
  machineHint,
  machineId,
  messageStatus,
  permissionMode,
  session,
  sessionBrief,
  sessionHint,
  sessionTitle,
  tag,
} from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'session.spawn_new',
  title: { en: 'Start a new session', 'zh-CN': '新建会话' },
  summary: 'Use to start an agent in a workspace on a machine, if wanted with a first message.',
  description:
    'Answers when the agent is ready. A first message is queued, not waited for. A child runs on the machine of its parent unless told otherwise; at most six lie between it and its root.',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'optional', field: 'parentSessionId' },
  secrets: ['environment'],
  positionals: ['agentId', 'directory'],
  next: {
    by: 'status',
    commands: {
      idle: 'session message send {sessionId} "say hello" --wait',
      running: 'session wait idle {sessionId}',
    },
  },
  hints: {
    agentId: agentHint,
    machineId: machineHint,
    parentSessionId: { ...sessionHint, label: 'Child of' },
    directory: {
      label: 'Workspace',
      widget: 'directory',
      options: {
        action: 'paths.list_recent',
        input: { machineId: '$machineId' },
        items: 'paths',
        value: 'path',
      },
    },
    additionalDirectories: { label: 'Further directories', widget: 'directory' },
    worktree: { label: 'Git worktree', widget: 'json' },
    environment: { label: 'Environment', widget: 'json' },
    mcpServers: {
      label: 'MCP servers',
      widget: 'select',
      options: { action: 'mcp.server.list', items: 'servers', value: 'name' },
    },
    message: { label: 'First message', widget: 'multiline' },
    modelId: {
      label: 'Model',
      widget: 'select',
      options: {
        action: 'agents.models.list',
        input: { agentId: '$agentId', machineId: '$machineId' },
        items: 'models',
        value: 'id',
        label: 'name',
      },
    },
    permissionMode: {
      label: 'Permission mode',
      widget: 'select',
      options: {
        action: 'agents.session_modes.list',
        input: { agentId: '$agentId', machineId: '$machineId' },
        items: 'modes',
        value: 'id',
        label: 'name',
      },
    },
  },
  keywords: {
    en: [
      'create',
      'launch',
      'open',
      'begin',
      'new chat',
      'run agent',
      'spawn',
      'child',
      'worktree',
      'claude',
      'codex',
      'gemini',
      'opencode',
      'kilo',
    ],
    'zh-CN': ['启动', '创建会话', '开始', '新对话', '运行智能体', '子会话'],
  },
  examples: [
    {
      title: 'The demo agent in a project, with a first message',
      input: { agentId: 'demo', directory: '/home/me/project', title: 'Try it', message: 'ls' },
    },
    {
      title: 'With tags and a variable',
      input: {
        agentId: 'demo',
        directory: '/home/me/project',
        tags: ['nightly'],
        environment: { STAGE: 'test' },
      },
    },
  ],
  errors: [
    'invalid_input',
    'session_not_found',
    'session_ambiguous',
    'session_archived',
    'session_too_deep',
    'permission_escalation_denied',
    'mcp_server_not_found',
    'conflict',
    'canceled',
    'timeout',
    'agent_needs_setup',
    'machine_offline',
    'daemon_not_running',
    'machine_not_found',
    'agent_not_available',
    'agent_failed',
    'session_directory_unavailable',
    'unsupported',
    'rate_limited',
  ],
  input: z.object({
    agentId: z
      .string()
      .min(1)
      .max(64)
      .describe('Agent to start, for example demo, claude, codex, gemini, opencode, kilo.'),
    directory: directory.describe('Workspace: an absolute path on the machine, or ~/ and one in its home.'),
    title: sessionTitle.optional().describe('Title of the session.'),
    message: z
      .string()
      .min(1)
      .max(200_000)
      .optional()
      .describe('First message, queued as soon as the agent is ready.'),
    permissionMode: permissionMode.optional(),
    modelId: z.string().min(1).max(200).optional().describe("Model to use. Default: the agent's own."),
    machineId: machineId.optional(),
    additionalDirectories: z
      .array(directory)
      .max(50)
      .optional()
      .describe('Further directories of the workspace, named like it.'),
    createDirectory: z.boolean().optional().describe('Make the directory if it is not there.'),
    worktree: z
      .object({
        branch: z.string().min(1).max(200).optional().describe('New branch. Default: from the title.'),
        base: z.string().min(1).max(200).optional().describe('Where it starts. Default: HEAD.'),
      })
      .optional()
      .describe("Work in a new git worktree of the directory's repository; {} for the defaults."),
    tags: z.array(tag).min(1).max(20).optional().describe('Tags to find it by.'),
    environment: z
      .record(
        z
          .string()
          .max(200)
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be letters, digits and _, no digit first'),
        z.string().max(65_536),
      )
      .refine(isSmall, 'must have at most 100 variables and 65536 characters in all')
      .optional()
      .describe('Variables for the agent. Values go to the machine and are stored nowhere else.'),
    mcpServers: z
      .array(z.string().min(1).max(64))
      .max(100)
      .optional()
      .describe(
        "Managed MCP servers whose tools it may use, by name. Default: its parent's, else all that they allow.",
      ),
    parentSessionId: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('Session that it becomes a child of. What an agent starts is a child of its own, always.'),
  }),
  output: z.object({
    ...sessionBrief.shape,
    agentId: session.shape.agentId,
    machineId: session.shape.machineId,
    directory: session.shape.directory,
    parentSessionId: session.shape.parentSessionId,
    worktree: session.shape.worktree,
    messageId: z.string().optional().describe('Id of the first message.'),
    messageStatus: messageStatus.optional(),
  }),
  async run({ input: { message, ...request }, caller, ports, signal }) {
    await requireServers(request.mcpServers, caller, ports);
    const spawned = await ports.control.spawn(request, caller, signal);
    if (message === undefined) return spawned;
    const sent = await ports.messages.send({ sessionId: spawned.sessionId, text: message }, caller);
    return { ...spawned, messageId: sent.messageId, messageStatus: sent.status };
  },
});

/** A name that nobody knows would leave the session without tools that were meant for it. @throws mcp_server_not_found */
async function requireServers(
  names: string[] | undefined,
  caller: Caller,
  ports: Pick<ActionPorts, 'managedServers'>,
) {
  if (names === undefined || names.length === 0) return;
  const known = (await ports.managedServers.list(caller)).map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new KaiwuError('mcp_server_not_found', `There is no managed MCP server ${JSON.stringify(unknown)}.`, {
    hint: known.length === 0 ? 'None is configured.' : `Nearest: ${nearest(unknown, known, 3).join(', ')}.`,
    details: { received: unknown, nearest: nearest(unknown, known, 3) },
  });
}

/** As much as a machine takes: an environment travels with every process that the agent starts. */
function isSmall(environment: Record<string, string>): boolean {
  const entries = Object.entries(environment);
  const characters = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return entries.length <= 100 && characters <= 65_536;
}
