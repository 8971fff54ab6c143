import * as z from 'zod';
import { defineAction } from '../../../../src/core/spec.ts';
import { waitSeconds } from '../../../../src/core/wait.ts';
import { runId, runSession, status } from '../../../_runs.ts';
import { event, limit, timeoutSeconds } from '../../../_shapes.ts';
import { RELATED } from '../../../_surfaces.ts';

/** Seconds that it waits for news where the caller says nothing. */
const DEFAULT_WAIT_SECONDS = 30;

export default defineAction({
  id: 'execution.run.stream.read',
  title: { en: "Read an execution run's stream", 'zh-CN': '读取执行任务的事件流' },
  summary: 'Use to follow an execution run: the events after a number, as soon as there are any.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  positionals: ['runId'],
  commands: ['run read'],
  columns: ['seq', 'at', 'type', { label: 'what', of: ['text', 'title', 'outcome', 'status'], whole: true }],
  keywords: {
    en: ['follow run', 'tail', 'run events', 'run progress', 'poll'],
    'zh-CN': ['跟踪任务', '任务进度', '任务事件'],
  },
  examples: [{ title: 'From the beginning', input: { runId: 'run_123', after: 0 } }],
  errors: ['not_found', 'session_not_found', 'session_ambiguous', 'canceled'],
  input: z.object({
    runId,
    sessionId: runSession.optional(),
    after: z
      .int()
      .min(0)
      .default(0)
      .describe('Only events with a higher number: pass the last seq that you have.'),
    limit: limit(100),
    timeoutSeconds: timeoutSeconds
      .optional()
      .describe('Longest wait for the first such event, in seconds. Default 30.'),
  }),
  output: z.object({
    runId,
    status,
    events: z.array(event).describe("Events of the run's own session, in rising order of seq."),
    lastSeq: z.int().describe('Number of the newest event that is stored; 0 before its session is there.'),
  }),
  async run({ input: { after, limit, timeoutSeconds, ...ref }, caller, ports, signal }) {
    const seconds = waitSeconds(timeoutSeconds, caller, DEFAULT_WAIT_SECONDS);
    const { run, events, lastSeq } = await ports.runs.read(ref, { after, limit, seconds }, signal);
    return { runId: run.runId, status: run.status, events, lastSeq };
  },
});
