import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { SESSION_STATUSES } from '../../src/core/session.ts';
import {
  agentHint,
  cursor,
  limit,
  machineHint,
  nextCursor,
  sessionHint,
  sessionRow,
  tag,
} from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'session.list',
  title: { en: 'List sessions', 'zh-CN': '列出会话' },
  summary: 'Use to see which agent sessions exist, on which machine, and what each is doing. Newest first.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'optional', field: 'below' },
  hints: { machineId: machineHint, agentId: agentHint, below: sessionHint },
  columns: [
    { label: 'id', of: ['sessionId'] },
    'title',
    'status',
    { label: 'agent', of: ['agentId'] },
    { label: 'started by', of: ['parentSessionId'] },
    'directory',
    { label: 'updated', of: ['updatedAt'] },
  ],
  keywords: {
    en: [
      'overview',
      'conversations',
      'chats',
      'running',
      'show all',
      'find session',
      'status of all',
      'children',
    ],
    'zh-CN': ['查看会话', '所有会话', '对话', '列表', '正在运行', '子会话'],
  },
  examples: [
    { title: 'All open sessions', input: {} },
    {
      title: 'The ten newest of one agent, archived ones too',
      input: { agentId: 'demo', archived: 'include', limit: 10 },
    },
  ],
  errors: ['invalid_input', 'session_not_found', 'session_ambiguous'],
  input: z.object({
    status: z
      .enum(SESSION_STATUSES)
      .optional()
      .describe('Only sessions in this state; failed: those too that never started.'),
    machineId: z.string().optional().describe('Only sessions of this machine.'),
    agentId: z.string().optional().describe('Only sessions of this agent.'),
    query: z.string().max(200).optional().describe('Only sessions with this text in title or directory.'),
    tag: tag.optional().describe('Only sessions with this tag.'),
    below: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('Only sessions that this session started, at any depth. Default for an agent: its own.'),
    archived: z
      .enum(['exclude', 'include', 'only'])
      .default('exclude')
      .describe('Archived sessions: exclude, include or only.'),
    limit: limit(50),
    cursor: cursor.optional(),
  }),
  output: z.object({ sessions: z.array(sessionRow).describe('Sessions, newest first.'), nextCursor }),
  async run({ input: { limit, cursor, ...filter }, ports }) {
    const { items, nextCursor } = await ports.sessions.list(filter, { limit, cursor });
    return { sessions: items, nextCursor };
  },
});
