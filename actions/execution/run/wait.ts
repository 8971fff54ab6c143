import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { waitSeconds } from '../../../src/core/wait.ts';
import { runBrief, runId, runSession } from '../../_runs.ts';
import { timeoutSeconds } from '../../_shapes.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'execution.run.wait',
  title: { en: 'Wait for an execution run', 'zh-CN': '等待执行任务' },
  summary: 'Use to wait until an execution run is over; of a voice agent, until it has answered.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  positionals: ['runId'],
  commands: ['run wait'],
  keywords: {
    en: ['run finished', 'join', 'await run', 'run completes'],
    'zh-CN': ['等待任务', '任务完成', '等待结果'],
  },
  examples: [{ title: 'A minute at most', input: { runId: 'run_123', timeoutSeconds: 60 } }],
  errors: ['not_found', 'session_not_found', 'session_ambiguous', 'canceled'],
  input: z.object({ runId, sessionId: runSession.optional(), timeoutSeconds: timeoutSeconds.optional() }),
  output: runBrief.extend({
    timedOut: z.boolean().optional().describe('The wait ended before the run; it goes on.'),
  }),
  async run({ input: { timeoutSeconds, ...ref }, caller, ports, signal }) {
    const { run, settled } = await ports.runs.wait(ref, waitSeconds(timeoutSeconds, caller), signal);
    return settled ? run : { ...run, timedOut: true };
  },
});
