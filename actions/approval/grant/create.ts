import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { artifactId, grant } from '../../_governance.ts';
import { PERSONAL } from '../../_surfaces.ts';

export default defineAction({
  id: 'approval.grant.create',
  title: { en: 'Allow the like of an approval', 'zh-CN': '允许类似的请求' },
  summary: 'Use to let the like of a reviewed request run without asking for a while, held to its fields.',
  effect: 'write',
  idempotent: false,
  openWorld: false,
  surfaces: PERSONAL,
  approvals: 'never',
  session: 'none',
  positionals: ['artifactId'],
  keywords: {
    en: ['always allow', 'remember decision', 'do not ask again', 'standing permission', 'grant'],
    'zh-CN': ['始终允许', '记住', '授权规则', '不再询问'],
  },
  examples: [
    {
      title: 'The same again, for an hour',
      input: { artifactId: '2765bc88-69ea-4316-9085-290ce5b3a3b6', hours: 1, uses: 5 },
    },
  ],
  errors: ['approval_not_found', 'conflict', 'invalid_input', 'permission_escalation_denied'],
  input: z.object({
    artifactId,
    pins: z
      .record(z.string(), z.enum(['exact', 'prefix']))
      .optional()
      .describe(
        'Fields that must stay: exact (the very value) or prefix (this path or below). Default: the very call, with nothing added.',
      ),
    onThisMachineOnly: z
      .boolean()
      .default(true)
      .describe('Only calls from the machine that asked. Default true.'),
    hours: z.number().min(0.01).max(720).default(1).describe('Hours that it lasts, up to 720. Default 1.'),
    uses: z
      .int()
      .min(1)
      .max(10_000)
      .default(10)
      .describe('How often it may be used, 1 to 10000. Default 10.'),
  }),
  output: grant,
  run: ({ input, caller, ports }) => ports.grants.create(input, caller),
});
