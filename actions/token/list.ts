import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { token } from '../_governance.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'token.list',
  title: { en: 'List API tokens', 'zh-CN': '列出 API 令牌' },
  summary: 'Use to see which API tokens exist, what each may do and when it was last used.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  columns: [
    { label: 'id', of: ['tokenId'] },
    'name',
    'kind',
    { label: 'created', of: ['createdAt'] },
    { label: 'last used', of: ['lastUsedAt'] },
    { label: 'revoked', of: ['revokedAt'] },
  ],
  keywords: { en: ['api keys', 'credentials', 'access'], 'zh-CN': ['令牌列表', '密钥'] },
  examples: [{ title: 'All tokens', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({ tokens: z.array(token).describe('Tokens, newest first.') }),
  async run({ ports }) {
    return { tokens: await ports.identity.listTokens() };
  },
});
