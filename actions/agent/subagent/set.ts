import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { subagent, subagentFields, subagentId } from '../../_subagents.ts';
import { GOVERNANCE } from '../../_surfaces.ts';

export default defineAction({
  id: 'agent.subagent.set',
  title: { en: 'Write a sub-agent', 'zh-CN': '编写子智能体' },
  summary: 'Use to add a sub-agent of your own, or to rewrite one.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['id'],
  hints: { prompt: { label: 'Prompt', widget: 'multiline' } },
  keywords: {
    en: ['define', 'create', 'edit', 'persona', 'role', 'prompt'],
    'zh-CN': ['子智能体', '编写', '定义'],
  },
  examples: [
    {
      title: 'One that writes release notes',
      input: {
        id: 'release-notes',
        name: 'Release notes',
        description: 'Writes the release notes of what was merged.',
        intent: 'delegate',
        prompt: 'Write for users. One line for each change that they can notice.',
      },
    },
  ],
  errors: ['conflict', 'invalid_input'],
  input: z.object({ id: subagentId, ...subagentFields }),
  output: z.object({ subagent: subagent.describe('As it is kept.') }),
  async run({ input, ports }) {
    return { subagent: await ports.subagents.set(input) };
  },
});
