import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { subagent, subagentId } from '../../_subagents.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'agent.subagent.get',
  title: { en: 'Read a sub-agent', 'zh-CN': '查看子智能体' },
  summary: 'Use to read what a sub-agent is told before its work.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  positionals: ['id'],
  keywords: { en: ['definition', 'prompt', 'persona', 'role'], 'zh-CN': ['子智能体', '提示词', '定义'] },
  examples: [{ title: 'A built-in one', input: { id: 'reviewer' } }],
  errors: ['not_found'],
  input: z.object({ id: subagentId }),
  output: z.object({ subagent: subagent.describe('The sub-agent.') }),
  async run({ input, ports }) {
    return { subagent: await ports.subagents.get(input.id) };
  },
});
