import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { approval, artifactId } from '../../_governance.ts';
import { APPROVALS } from '../../_surfaces.ts';

export default defineAction({
  id: 'approval.request.cancel',
  title: { en: 'Withdraw an approval request', 'zh-CN': '撤回审批请求' },
  summary: 'Use to take back a request that is still pending.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: APPROVALS,
  approvals: 'never',
  session: 'none',
  anySession: true,
  positionals: ['artifactId'],
  keywords: { en: ['take back', 'revoke request', 'undo', 'cancel'], 'zh-CN': ['撤回', '取消审批'] },
  examples: [{ title: 'Withdraw', input: { artifactId: '2765bc88-69ea-4316-9085-290ce5b3a3b6' } }],
  errors: ['approval_not_found', 'approval_already_decided', 'approval_expired', 'forbidden'],
  input: z.object({ artifactId }),
  output: approval,
  run: ({ input, caller, ports }) => ports.approvals.cancel(input.artifactId, caller),
});
