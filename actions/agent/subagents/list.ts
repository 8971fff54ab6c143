import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { EVERYDAY } from '../../_surfaces.ts';
import { subagentRow, toRow } from '../../_subagents.ts';

export default defineAction({
  id: 'agent.subagents.list',
  title: { en: 'List sub-agents', 'zh-CN': '列出子智能体' },
  summary: 'Use to see which kinds of sub-agent can be run, and what each is good for.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  anySession: true,
  columns: ['id', 'intent', 'source', { label: 'for', of: ['description'], whole: true }],
  keywords: {
    en: ['helpers', 'roles', 'personas', 'definitions', 'reviewer', 'planner'],
    'zh-CN': ['子智能体', '角色', '助手'],
  },
  examples: [{ title: 'All of them', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({ subagents: z.array(subagentRow).describe('Sub-agents, by id.') }),
  async run({ ports }) {
    return { subagents: (await ports.subagents.list()).map(toRow) };
  },
});
