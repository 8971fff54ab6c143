import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { providerId } from '../../_capability.ts';
import { GOVERNANCE } from '../../_surfaces.ts';

export default defineAction({
  id: 'capability.provider.remove',
  title: { en: 'Remove a capability provider', 'zh-CN': '移除能力提供方' },
  summary: 'Use to take the record of an outside provider away.',
  effect: 'destructive',
  idempotent: false,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['id'],
  keywords: { en: ['governance', 'forget', 'delete', 'vendor'], 'zh-CN': ['能力', '提供方', '删除'] },
  examples: [{ title: 'One', input: { id: 'acme-tools' } }],
  errors: ['not_found'],
  input: z.object({ id: providerId }),
  output: z.object({ removed: z.boolean().describe('It is gone.') }),
  async run({ input: { id }, ports }) {
    await ports.capabilityProviders.remove(id);
    return { removed: true };
  },
});
