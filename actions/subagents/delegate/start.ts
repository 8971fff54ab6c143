import { defineAction } from '../../../src/core/spec.ts';
import { delegateInput, startData, startOutput, startRuns } from '../../_runs.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'subagents.delegate.start',
  title: { en: 'Start a subagent that does the work', 'zh-CN': '启动委派子智能体' },
  summary:
    'Use to hand a piece of work to another agent in a session’s workspace, if wanted in a git worktree.',
  description:
    'The same as an execution run with the intent delegate: list, read, wait for and stop it as one.',
  ...startData,
  surfaces: RELATED,
  positionals: ['sessionId', 'instructions'],
  keywords: {
    en: ['hand off', 'assign', 'outsource', 'subagent', 'worker', 'implement'],
    'zh-CN': ['委派', '委托', '分配', '交给'],
  },
  examples: [
    {
      title: 'A piece of work',
      input: {
        sessionId: 'sess_123',
        backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
        instructions: 'Fix the typo in the readme.',
      },
    },
  ],
  input: delegateInput,
  output: startOutput,
  run: ({ input, ...call }) => startRuns('delegate', input, call),
});
