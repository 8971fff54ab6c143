import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { providerId } from '../_web.ts';
import { PERSONAL } from '../_surfaces.ts';

export default defineAction({
  id: 'provider.test',
  title: { en: 'Test a web provider', 'zh-CN': '测试网络提供方' },
  summary: 'Use to see whether a provider answers: it is asked one small question.',
  effect: 'read',
  idempotent: true,
  openWorld: true,
  surfaces: PERSONAL,
  approvals: 'never',
  session: 'none',
  commands: ['providers test'],
  positionals: ['id'],
  keywords: { en: ['providers', 'check', 'health', 'search engine'], 'zh-CN': ['提供方', '测试', '检查'] },
  examples: [{ title: 'One', input: { id: 'searxng' } }],
  errors: ['invalid_input'],
  input: z.object({ id: providerId }),
  output: z.object({
    ok: z.boolean().describe('It answered as it should.'),
    milliseconds: z.int().describe('How long it took.'),
    message: z.string().optional().describe('Why not.'),
  }),
  run: ({ input: { id }, ports, signal }) => ports.web.test(id, signal),
});
