import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { capabilityProvider } from '../../_capability.ts';
import { INSIGHT } from '../../_surfaces.ts';

export default defineAction({
  id: 'capability.provider.list',
  title: { en: 'List capability providers', 'zh-CN': '列出能力提供方' },
  summary: 'Use to see which outside providers are recorded, and whether they are trusted.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  columns: ['id', 'displayName', 'trustState', 'enabled', 'sourceUri'],
  keywords: { en: ['governance', 'trust', 'vendors', 'provider'], 'zh-CN': ['能力', '提供方', '信任'] },
  examples: [{ title: 'All of them', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({ providers: z.array(capabilityProvider).describe('Providers, by id.') }),
  async run({ ports }) {
    return { providers: await ports.capabilityProviders.list() };
  },
});
