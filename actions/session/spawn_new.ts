import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import {
  agentHint,
  machineHint,
  machineId,
  messageStatus,
  permissionMode,
  session,
  sessionBrief,
  sessionHint,
} from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'session.spawn_new',
  title: { en: 'Start a new session', 'zh-CN': '新建会话' },
  summary: 'Use to start an agent in a workspace on a machine, if wanted with a first message.',
  description:
    'Answers when the agent is ready. The directory must exist. A first message is queued, not waited for.',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'optional', field: 'parentSessionId' },
  positionals: ['agentId', 'directory'],
  hints: {
    agentId: agentHint,
    machineId: machineHint,
    parentSessionId: sessionHint,
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
      'claude',
      'codex',
      'gemini',
      'opencode',
      'kilo',
    ],
    'zh-CN': ['启动', '创建会话', '开始', '新对话', '运行智能体'],
  },
  examples: [
    {
      title: 'The demo agent in a project, with a first message',
      input: { agentId: 'demo', directory: '/home/me/project', title: 'Try it', message: 'ls' },
    },
  ],
  errors: [
    'machine_offline',
    'daemon_not_running',
    'machine_not_found',
    'agent_not_available',
    'agent_failed',
    'session_directory_unavailable',
    'unsupported',
    'session_not_found',
    'session_ambiguous',
    'session_archived',
    'session_too_deep',
    'permission_escalation_denied',
  ],
  input: z.object({
    agentId: z
      .string()
      .min(1)
      .max(64)
      .describe('Agent to start, for example demo, claude, codex, gemini, opencode, kilo.'),
    directory: z
      .string()
      .min(1)
      .max(4096)
      .describe('Workspace: an absolute path on the machine; ~ is its home.'),
    title: z.string().trim().min(1).max(200).optional().describe('Title of the session.'),
    message: z
      .string()
      .min(1)
      .max(200_000)
      .optional()
      .describe('First message, queued as soon as the agent is ready.'),
    permissionMode: permissionMode.optional(),
    modelId: z.string().min(1).max(200).optional().describe("Model to use. Default: the agent's own."),
    machineId: machineId.optional(),
    parentSessionId: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe(
        'Session that it becomes a child of. Default: none. What an agent starts is always a child of its own session.',
      ),
  }),
  output: z.object({
    ...sessionBrief.shape,
    agentId: session.shape.agentId,
    machineId: session.shape.machineId,
    directory: session.shape.directory,
    messageId: z.string().optional().describe('Id of the first message.'),
    messageStatus: messageStatus.optional(),
  }),
  async run({ input: { message, ...request }, caller, ports, signal }) {
    const spawned = await ports.control.spawn(request, caller, signal);
    if (message === undefined) return spawned;
    const sent = await ports.messages.send({ sessionId: spawned.sessionId, text: message }, caller);
    return { ...spawned, messageId: sent.messageId, messageStatus: sent.status };
  },
});
