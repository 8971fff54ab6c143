import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { passkey, passkeyId } from '../_passkeys.ts';
import { GOVERNANCE } from '../_surfaces.ts';

export default defineAction({
  id: 'passkey.revoke',
  title: { en: 'Revoke a passkey', 'zh-CN': '撤销通行密钥' },
  summary:
    'Use to end a passkey for good: it signs nobody in any more, and browsers that it signed in are out.',
  effect: 'destructive',
  idempotent: true,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['passkeyId'],
  keywords: {
    en: ['remove passkey', 'delete passkey', 'lost security key', 'webauthn', 'stolen'],
    'zh-CN': ['撤销通行密钥', '删除通行密钥'],
  },
  examples: [{ title: 'A lost security key', input: { passkeyId: 'pk_123' } }],
  errors: ['not_found'],
  input: z.object({ passkeyId }),
  output: passkey.extend({ signedOut: z.int().describe('Browsers that this has signed out.') }),
  async run({ input, ports }) {
    const { passkey: revoked, signedOut } = await ports.passkeys.revoke(input.passkeyId);
    return { ...revoked, signedOut };
  },
});
