import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { token } from '../_governance.ts';
import { GOVERNANCE } from '../_surfaces.ts';

export default defineAction({
  id: 'token.revoke',
  title: { en: 'Revoke an API token', 'zh-CN': '撤销 API 令牌' },
  summary: 'Use to make a token useless at once.',
  effect: 'destructive',
  idempotent: true,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['tokenId'],
  keywords: { en: ['delete key', 'disable token', 'leaked'], 'zh-CN': ['撤销令牌', '删除密钥'] },
  examples: [{ title: 'A leaked token', input: { tokenId: 'tok_123' } }],
  errors: ['not_found'],
  input: z.object({ tokenId: z.string().min(1).max(64).describe('Token to revoke.') }),
  output: token,
  run: ({ input, ports }) => ports.identity.revokeToken(input.tokenId),
});
