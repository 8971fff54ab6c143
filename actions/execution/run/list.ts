import * as z from 'zod';
import { RUN_INTENTS, RUN_STATUSES } from '../../../src/core/run.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { runRow, toRow } from '../../_runs.ts';
import { cursor, limit, nextCursor, sessionHint } from '../../_shapes.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'execution.run.list',
  title: { en: 'List execution runs', 'zh-CN': '列出执行任务' },
  summary: 'Use to see which execution runs there are, of which session, and how each stands. Newest first.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  commands: ['run list'],
  hints: { sessionId: sessionHint },
  columns: [
    { label: 'id', of: ['runId'] },
    'intent',
    'status',
    { label: 'agent', of: ['backendTarget.agentId'] },
    { label: 'session', of: ['sessionId'] },
    { label: 'created', of: ['createdAt'] },
    { label: 'instructions', of: ['instructions'] },
  ],
  keywords: {
    en: ['runs', 'jobs', 'subagents', 'reviews', 'plans', 'delegated work', 'queue'],
    'zh-CN': ['任务列表', '执行列表', '子智能体', '排队'],
  },
  examples: [
    { title: 'All runs', input: {} },
    { title: 'What works for one session now', input: { sessionId: 'sess_123', status: 'running' } },
  ],
  errors: ['session_not_found', 'session_ambiguous', 'invalid_input'],
  input: z.object({
    sessionId: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('Only runs of this session: its id, or a prefix that fits one session only.'),
    status: z.enum(RUN_STATUSES).optional().describe('Only runs in this state.'),
    intent: z.enum(RUN_INTENTS).optional().describe('Only runs with this intent.'),
    limit: limit(50),
    cursor: cursor.optional(),
  }),
  output: z.object({ runs: z.array(runRow).describe('Runs, newest first.'), nextCursor }),
  async run({ input: { limit, cursor, ...filter }, ports }) {
    const { items, nextCursor } = await ports.runs.list(filter, { limit, cursor });
    return { runs: items.map(toRow), nextCursor };
  },
});
