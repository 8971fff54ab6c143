import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { passkey } from '../_passkeys.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'passkey.list',
  title: { en: 'List passkeys', 'zh-CN': '列出通行密钥' },
  summary: 'Use to see which passkeys sign browsers in to the account, and when they were last used.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  columns: [
    { label: 'id', of: ['passkeyId'] },
    'name',
    'site',
    { label: 'made', of: ['createdAt'] },
    { label: 'last used', of: ['lastUsedAt'] },
    { label: 'revoked', of: ['revokedAt'] },
  ],
  keywords: {
    en: ['webauthn', 'fingerprint', 'security key', 'browser sign-in'],
    'zh-CN': ['通行密钥', '指纹', '安全密钥'],
  },
  examples: [{ title: 'All passkeys', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({ passkeys: z.array(passkey).describe('Passkeys, newest first.') }),
  async run({ ports }) {
    return { passkeys: await ports.passkeys.list() };
  },
});
