import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { capabilityProvider, providerId, record } from '../../_capability.ts';
import { GOVERNANCE } from '../../_surfaces.ts';

export default defineAction({
  id: 'capability.provider.add',
  title: { en: 'Record a capability provider', 'zh-CN': '登记能力提供方' },
  summary: 'Use to record an outside provider, so that what names it is offered only while it is trusted.',
  description: 'It installs and runs nothing. While no provider is recorded, nothing is hidden.',
  effect: 'write',
  idempotent: false,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['id'],
  keywords: { en: ['governance', 'trust', 'vendor', 'register'], 'zh-CN': ['能力', '提供方', '登记'] },
  examples: [
    {
      title: 'One that is trusted',
      input: { id: 'Acme Tools', displayName: 'Acme Tools', trustState: 'trusted' },
    },
  ],
  errors: ['invalid_input', 'conflict'],
  input: z.object({ id: providerId, ...record }),
  output: z.object({ provider: capabilityProvider.describe('As it is recorded.') }),
  async run({ input: { id, ...given }, ports }) {
    return { provider: await ports.capabilityProviders.add(id, given) };
  },
});
