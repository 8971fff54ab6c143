import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { capabilityProvider, providerId, record } from '../../_capability.ts';
import { GOVERNANCE } from '../../_surfaces.ts';

export default defineAction({
  id: 'capability.provider.update',
  title: { en: 'Change a capability provider', 'zh-CN': '修改能力提供方' },
  summary: 'Use to trust a recorded provider, take the trust back, or switch it on or off.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['id'],
  keywords: { en: ['governance', 'trust', 'distrust', 'revoke'], 'zh-CN': ['能力', '提供方', '信任'] },
  examples: [{ title: 'Trust no longer', input: { id: 'acme-tools', trustState: 'revoked' } }],
  errors: ['not_found'],
  input: z.object({
    id: providerId,
    displayName: record.displayName.optional(),
    sourceUri: record.sourceUri,
    sourceDigest: record.sourceDigest,
    trustState: record.trustState.unwrap().optional().describe('Whether a person trusts it.'),
    enabled: record.enabled.unwrap().optional().describe('Whether it is on.'),
  }),
  output: z.object({ provider: capabilityProvider.describe('As it is recorded now.') }),
  async run({ input: { id, ...change }, ports }) {
    return { provider: await ports.capabilityProviders.update(id, change) };
  },
});
