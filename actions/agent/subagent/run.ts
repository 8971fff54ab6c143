import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { startData, startOutput, startRuns } from '../../_runs.ts';
import { sessionHint, sessionId } from '../../_shapes.ts';
import { subagentId } from '../../_subagents.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'agent.subagent.run',
  title: { en: 'Run a sub-agent', 'zh-CN': '运行子智能体' },
  summary:
    'Use to have a sub-agent of the list do something beside a session and, if wanted, wait for what it says.',
  description: 'It is an execution run: read, wait for and stop it as one.',
  ...startData,
  surfaces: EVERYDAY,
  hints: {
    id: { options: { action: 'agent.subagents.list', items: 'subagents', value: 'id', label: 'name' } },
    sessionId: sessionHint,
    prompt: { label: 'Prompt', widget: 'multiline' },
  },
  positionals: ['id', 'prompt'],
  keywords: {
    en: ['helper', 'dispatch', 'spawn', 'delegate', 'role', 'ask'],
    'zh-CN': ['子智能体', '派发', '委派', '运行'],
  },
  examples: [
    {
      title: 'A question about the code',
      input: { id: 'explorer', prompt: 'Where is the session title stored?', sessionId: 'sess_123' },
    },
  ],
  errors: ['not_found', ...startData.errors],
  input: z.object({
    id: subagentId,
    prompt: z.string().trim().min(1).max(150_000).describe('What it is to do.'),
    sessionId: sessionId.optional(),
    wait: z.boolean().default(false).describe('Answer when it is over.'),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(86_400)
      .default(1800)
      .describe('Work that takes longer is stopped. Default 1800.'),
  }),
  output: startOutput,
  async run({ input: { id, prompt, wait, ...rest }, ports, ...call }) {
    const { intent, permissionMode, prompt: told } = await ports.subagents.get(id);
    const input = {
      ...rest,
      instructions: `${told.trim()}\n\n${prompt}`,
      waitForCompletion: wait,
      ...(permissionMode === undefined ? {} : { permissionMode }),
    };
    return startRuns(intent, input, { ports, ...call });
  },
});
