import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { runBrief, runId, runSession } from '../../_runs.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'execution.run.stop',
  title: { en: 'Stop an execution run', 'zh-CN': '停止执行任务' },
  summary: 'Use to cancel an execution run that is queued or at work; one that is over stays as it is.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: RELATED,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  positionals: ['runId'],
  commands: ['run stop'],
  keywords: {
    en: ['cancel run', 'abort run', 'end run', 'hang up', 'stop the voice agent'],
    'zh-CN': ['取消任务', '终止任务', '挂断'],
  },
  examples: [{ title: 'One run', input: { runId: 'run_123' } }],
  errors: ['not_found', 'session_not_found', 'session_ambiguous'],
  input: z.object({ runId, sessionId: runSession.optional() }),
  output: runBrief,
  run: ({ input, caller, ports }) => ports.runs.stop(input, caller),
});
