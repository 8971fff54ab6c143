import { defineAction } from '../../../src/core/spec.ts';
import { startData, startInput, startOutput, startRuns } from '../../_runs.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'execution.run.start',
  title: { en: 'Start an execution run', 'zh-CN': '启动执行任务' },
  summary:
    'Use to have agents review, plan or do a piece of work beside a session, with a structured result.',
  ...startData,
  surfaces: EVERYDAY,
  positionals: ['sessionId', 'intent', 'instructions'],
  commands: ['run start'],
  keywords: {
    en: ['execute', 'second opinion', 'job', 'background', 'subtask', 'several agents', 'compare agents'],
    'zh-CN': ['执行', '任务', '运行', '后台', '子任务'],
  },
  examples: [
    {
      title: 'A plan, made by one agent',
      input: {
        sessionId: 'sess_123',
        intent: 'plan',
        backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
        instructions: 'Plan the move to the new parser.',
      },
    },
  ],
  input: startInput,
  output: startOutput,
  run: ({ input: { intent, ...input }, ...call }) => startRuns(intent, input, call),
});
