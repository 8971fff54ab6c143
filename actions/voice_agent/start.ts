import { defineAction } from '../../src/core/spec.ts';
import { shortcutInput, startData, startOutput, startRuns } from '../_runs.ts';
import { RELATED } from '../_surfaces.ts';

export default defineAction({
  id: 'voice_agent.start',
  title: { en: 'Start a voice agent', 'zh-CN': '启动语音智能体' },
  summary: 'Use to start an agent that answers in short spoken form, turn by turn, until it is stopped.',
  description:
    'The same as an execution run with the intent voice_agent: list, read, wait for and stop it as one.',
  ...startData,
  surfaces: RELATED,
  positionals: ['sessionId', 'instructions'],
  keywords: {
    en: ['speech', 'talk', 'spoken', 'conversation by voice', 'voice assistant'],
    'zh-CN': ['语音', '口语', '对话助手', '说话'],
  },
  examples: [
    {
      title: 'A voice agent for a session',
      input: {
        sessionId: 'sess_123',
        backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
        instructions: 'Help me find my way in this project.',
      },
    },
  ],
  input: shortcutInput,
  output: startOutput,
  run: ({ input, ...call }) => startRuns('voice_agent', input, call),
});
