import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { PASSKEY_NAME_MAX } from '../../src/core/passkey.ts';
import { passkey, passkeyId } from '../_passkeys.ts';
import { GOVERNANCE } from '../_surfaces.ts';

export default defineAction({
  id: 'passkey.rename',
  title: { en: 'Rename a passkey', 'zh-CN': '重命名通行密钥' },
  summary: 'Use to give a passkey a name by which people tell it from others.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['passkeyId', 'name'],
  keywords: { en: ['webauthn', 'label passkey', 'name security key'], 'zh-CN': ['通行密钥', '改名'] },
  examples: [{ title: 'A clearer name', input: { passkeyId: 'pk_123', name: 'Blue security key' } }],
  errors: ['not_found'],
  input: z.object({
    passkeyId,
    name: z.string().trim().min(1).max(PASSKEY_NAME_MAX).describe('New name.'),
  }),
  output: passkey,
  run: ({ input, ports }) => ports.passkeys.rename(input.passkeyId, input.name),
});
