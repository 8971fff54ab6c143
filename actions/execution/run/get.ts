import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { run, runId, runSession } from '../../_runs.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'execution.run.get',
  title: { en: 'Get an execution run', 'zh-CN': '查看执行任务' },
  summary: 'Use to see how one execution run stands, and its result.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  positionals: ['runId'],
  commands: ['run get'],
  keywords: {
    en: ['run status', 'run result', 'outcome', 'details', 'report of a run'],
    'zh-CN': ['任务详情', '执行结果', '任务状态'],
  },
  examples: [{ title: 'One run', input: { runId: 'run_123' } }],
  errors: ['not_found', 'session_not_found', 'session_ambiguous'],
  input: z.object({ runId, sessionId: runSession.optional() }),
  output: run,
  run: ({ input, ports }) => ports.runs.get(input),
});
