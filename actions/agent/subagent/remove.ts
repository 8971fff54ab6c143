import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { subagentId } from '../../_subagents.ts';
import { GOVERNANCE } from '../../_surfaces.ts';

export default defineAction({
  id: 'agent.subagent.remove',
  title: { en: 'Remove a sub-agent', 'zh-CN': '移除子智能体' },
  summary: 'Use to take away a sub-agent of your own. Its runs stay.',
  effect: 'destructive',
  idempotent: false,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['id'],
  keywords: { en: ['delete', 'forget', 'persona', 'role'], 'zh-CN': ['子智能体', '删除', '移除'] },
  examples: [{ title: 'One', input: { id: 'release-notes' } }],
  errors: ['not_found', 'conflict'],
  input: z.object({ id: subagentId }),
  output: z.object({ removed: z.boolean().describe('It is gone.') }),
  async run({ input, ports }) {
    await ports.subagents.remove(input.id);
    return { removed: true };
  },
});
