import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { grant } from '../../_governance.ts';
import { PERSONAL } from '../../_surfaces.ts';

export default defineAction({
  id: 'approval.grant.revoke',
  title: { en: 'Revoke a grant', 'zh-CN': '撤销授权' },
  summary: 'Use to make a kind of call ask again, at once.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: PERSONAL,
  approvals: 'never',
  session: 'none',
  positionals: ['grantId'],
  keywords: { en: ['ask again', 'remove permission', 'withdraw grant'], 'zh-CN': ['撤销授权', '重新询问'] },
  examples: [{ title: 'Ask again', input: { grantId: 'grant_123' } }],
  errors: ['not_found', 'permission_escalation_denied'],
  input: z.object({ grantId: z.string().min(1).max(64).describe('Grant to revoke.') }),
  output: grant,
  run: ({ input, caller, ports }) => ports.grants.revoke(input.grantId, caller),
});
