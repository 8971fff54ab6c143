import { defineAction } from '../../src/core/spec.ts';
import { shortcutInput, startData, startOutput, startRuns } from '../_runs.ts';
import { RELATED } from '../_surfaces.ts';

export default defineAction({
  id: 'review.start',
  title: { en: 'Start a review', 'zh-CN': '开始代码评审' },
  summary: 'Use to have an agent review the work in a session’s workspace and list its findings.',
  description:
    'The same as an execution run with the intent review: list, read, wait for and stop it as one.',
  ...startData,
  surfaces: RELATED,
  positionals: ['sessionId', 'instructions'],
  keywords: {
    en: ['code review', 'findings', 'check changes', 'audit code', 'critique'],
    'zh-CN': ['评审', '审查', '代码检查', '找问题'],
  },
  examples: [
    {
      title: 'A review of what is not committed',
      input: {
        sessionId: 'sess_123',
        backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
        instructions: 'Review the changes that are not committed.',
      },
    },
  ],
  input: shortcutInput,
  output: startOutput,
  run: ({ input, ...call }) => startRuns('review', input, call),
});
