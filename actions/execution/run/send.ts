import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { waitSeconds } from '../../../src/core/wait.ts';
import { runBrief, runId, runSession } from '../../_runs.ts';
import { messageStatus, timeoutSeconds } from '../../_shapes.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'execution.run.send',
  title: { en: 'Send a message to an execution run', 'zh-CN': '向执行任务发消息' },
  summary:
    'Use to tell the agent of an execution run more, take the next turn with a voice agent, or let a run go on.',
  description: 'A run that is over goes on with the message, in the same conversation.',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: RELATED,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  positionals: ['runId', 'message'],
  commands: ['run send'],
  hints: { message: { label: 'Message', widget: 'multiline' } },
  keywords: {
    en: ['continue run', 'follow up', 'voice turn', 'resume run', 'retry run'],
    'zh-CN': ['继续任务', '追问', '补充说明', '语音对话'],
  },
  examples: [{ title: 'One thing more', input: { runId: 'run_123', message: 'Look at the tests as well.' } }],
  errors: [
    'not_found',
    'session_not_found',
    'session_ambiguous',
    'session_archived',
    'permission_escalation_denied',
    'rate_limited',
    'canceled',
  ],
  input: z.object({
    runId,
    sessionId: runSession.optional(),
    message: z.string().min(1).max(200_000).describe('What to say to its agent.'),
    wait: z
      .boolean()
      .default(false)
      .describe('Wait until the run is over; with a voice agent, for the reply to this message.'),
    timeoutSeconds: timeoutSeconds.optional(),
  }),
  output: runBrief.extend({
    messageId: z.string().describe('Id of the message.'),
    messageStatus,
    reply: z
      .string()
      .optional()
      .describe("The turn's final text; of a voice agent in its short spoken form."),
    timedOut: z.boolean().optional().describe('The wait ended first; the run goes on.'),
  }),
  async run({ input: { message, wait, timeoutSeconds, ...ref }, caller, ports, signal }) {
    const sent = await ports.runs.send(ref, message, caller);
    const { messageId } = sent.turn;
    const seconds = wait ? waitSeconds(timeoutSeconds, caller) : 0;
    const { settled } = wait ? await ports.runs.wait(ref, seconds, signal) : { settled: true };
    const { run, turn } = await ports.runs.turn(ref, messageId, 0, signal);
    return {
      ...run,
      messageId,
      messageStatus: turn.status,
      ...(turn.reply === undefined ? {} : { reply: turn.reply }),
      ...(settled ? {} : { timedOut: true }),
    };
  },
});
