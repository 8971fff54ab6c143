import * as z from 'zod';
import { waitSeconds } from '../../../src/core/wait.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { approval, artifactId } from '../../_governance.ts';
import { withLineage } from '../../_lineage.ts';
import { lineage } from '../../_shapes.ts';
import { APPROVALS } from '../../_surfaces.ts';

export default defineAction({
  id: 'approval.request.get',
  title: { en: 'Get an approval request', 'zh-CN': '查看审批请求' },
  summary: 'Use to see one request, or to wait until it is decided and its action has ended.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: APPROVALS,
  approvals: 'never',
  session: 'none',
  anySession: true,
  positionals: ['artifactId'],
  keywords: {
    en: ['outcome', 'result', 'decided', 'wait for approval', 'status'],
    'zh-CN': ['审批结果', '等待审批', '状态'],
  },
  examples: [{ title: 'As it stands', input: { artifactId: '2765bc88-69ea-4316-9085-290ce5b3a3b6' } }],
  errors: ['approval_not_found'],
  input: z.object({
    artifactId,
    waitSeconds: z
      .int()
      .min(0)
      .max(3600)
      .default(0)
      .describe('Wait this long, in seconds, for the outcome. Default: not at all.'),
  }),
  output: approval.extend({ lineage: lineage.optional() }),
  async run({ input: { artifactId, waitSeconds: seconds }, caller, ports, signal }) {
    const { approvals, sessions } = ports;
    const found =
      seconds === 0
        ? await approvals.get(artifactId, caller)
        : await approvals.wait(artifactId, waitSeconds(seconds, caller), signal, caller);
    return withLineage(found, sessions, caller);
  },
});
