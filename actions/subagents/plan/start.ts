import { defineAction } from '../../../src/core/spec.ts';
import { shortcutInput, startData, startOutput, startRuns } from '../../_runs.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'subagents.plan.start',
  title: { en: 'Start a subagent that plans', 'zh-CN': '启动规划子智能体' },
  summary: 'Use to have an agent plan a piece of work in a session’s workspace: steps and risks.',
  description: 'The same as an execution run with the intent plan: list, read, wait for and stop it as one.',
  ...startData,
  surfaces: RELATED,
  positionals: ['sessionId', 'instructions'],
  keywords: {
    en: ['planning', 'roadmap', 'steps', 'risks', 'break down', 'design'],
    'zh-CN': ['规划', '计划', '步骤', '风险'],
  },
  examples: [
    {
      title: 'A plan for one change',
      input: {
        sessionId: 'sess_123',
        backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
        instructions: 'Plan the move to the new parser.',
      },
    },
  ],
  input: shortcutInput,
  output: startOutput,
  run: ({ input, ...call }) => startRuns('plan', input, call),
});
