import * as z from 'zod';
import { ANSWER_KINDS } from '../../src/core/ports/web.ts';
import { defineAction } from '../../src/core/spec.ts';
import { providerFields, providerId, shownProvider } from '../_web.ts';
import { PERSONAL } from '../_surfaces.ts';

const isAnswerKind = (kind: string): boolean => (ANSWER_KINDS as readonly string[]).includes(kind);

export default defineAction({
  id: 'provider.set',
  title: { en: 'Set up a web provider', 'zh-CN': '设置网络提供方' },
  summary: 'Use to add a service that searches the web or answers from it, or to replace its settings.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: PERSONAL,
  approvals: 'never',
  session: 'none',
  commands: ['providers set'],
  positionals: ['id'],
  secrets: ['api_key'],
  keywords: {
    en: ['providers', 'search engine', 'api key', 'configure'],
    'zh-CN': ['提供方', '密钥', '设置'],
  },
  examples: [
    {
      title: 'SearXNG at home',
      input: { id: 'searxng', kind: 'searxng', base_url: 'http://127.0.0.1:8888' },
    },
  ],
  errors: ['invalid_input', 'conflict', 'state_damaged'],
  input: z
    .object({
      id: providerId,
      ...providerFields,
      api_key: z
        .string()
        .max(4096)
        .regex(/^[\x21-\x7e]*$/, 'must be visible ASCII characters')
        .optional()
        .describe('Key. Kept sealed; absent keeps the one that is there while kind and address stay.'),
    })
    .refine(({ kind, base_url: base }) => kind !== 'searxng' || base !== undefined, {
      path: ['base_url'],
      message: 'is needed for searxng',
    })
    .refine(({ kind, model }) => !isAnswerKind(kind) || model !== undefined, {
      path: ['model'],
      message: 'is needed for openai and gemini',
    }),
  output: z.object({ provider: shownProvider.describe('As it is now.') }),
  run: async ({ input: { api_key: key, ...provider }, ports }) => ({
    provider: await ports.web.set(provider, key),
  }),
});
