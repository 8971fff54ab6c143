import * as z from 'zod';
import { invalidInput } from '../../../src/core/input.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { sessionBrief, sessionHint, sessionId } from '../../_shapes.ts';
import { DECISIONS } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.permission.respond',
  title: { en: 'Answer a permission request', 'zh-CN': '回应权限请求' },
  summary:
    "Use to let a waiting agent go on, or to refuse what it asks. One of the agent's own options, or allow or deny.",
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: DECISIONS,
  approvals: 'never',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId', 'decision'],
  hints: { sessionId: sessionHint },
  keywords: {
    en: ['allow', 'grant', 'refuse', 'reject', 'permit', 'approve tool', 'let it', 'waiting'],
    'zh-CN': ['允许', '拒绝', '授权', '同意', '权限请求'],
  },
  examples: [{ title: 'Allow once', input: { sessionId: 'sess_123', decision: 'allow' } }],
  errors: [
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'conflict',
    'machine_offline',
    'daemon_not_running',
    'permission_escalation_denied',
    'invalid_input',
  ],
  input: z.object({
    sessionId: sessionId.optional(),
    requestId: z.string().optional().describe('Id of the request. Default: the one that is open.'),
    decision: z
      .enum(['allow', 'allow_always', 'deny'])
      .optional()
      .describe('allow (once), allow_always or deny.'),
    optionId: z.string().optional().describe("One of the agent's own options, in place of decision."),
  }),
  output: sessionBrief,
  async run({ input: { sessionId, ...answer }, caller, ports }) {
    if ((answer.decision === undefined) === (answer.optionId === undefined)) {
      const message = 'give either decision or optionId';
      throw invalidInput('session.permission.respond', [{ path: 'decision', message }]);
    }
    return ports.control.answerPermission(sessionId!, answer, caller);
  },
});
