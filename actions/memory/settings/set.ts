import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { endpoint, settings } from '../../_memory.ts';
import { PERSONAL } from '../../_surfaces.ts';

export default defineAction({
  id: 'memory.settings.set',
  title: { en: 'Change the settings of memory', 'zh-CN': '修改记忆设置' },
  summary: 'Use to switch memory on or off, have finished turns remembered, or set the models that it uses.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: PERSONAL,
  approvals: 'never',
  session: 'none',
  secrets: ['recall_model', 'embeddings'],
  clearable: ['recall_model', 'embeddings'],
  keywords: {
    en: ['memory', 'configure', 'enable', 'embeddings', 'model'],
    'zh-CN': ['记忆', '设置', '模型'],
  },
  examples: [{ title: 'Remember finished turns', input: { remember_turns: true } }],
  errors: ['invalid_input'],
  input: z.object({
    enabled: z.boolean().optional().describe('Whether memory is on.'),
    remember_turns: z.boolean().optional().describe('Remember turns that begin from now on.'),
    recall_model: endpoint.describe('Writes the answers of recall; null removes it.'),
    embeddings: endpoint.describe('Makes the vectors of mode hybrid; null removes it.'),
  }),
  output: settings,
  run: ({ input, ports }) => ports.memory.configure(input),
});
