import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { invalidInput } from '../../../src/core/input.ts';
import { DELIVERIES, isFinal, type Session } from '../../../src/core/session.ts';
import { waitSeconds } from '../../../src/core/wait.ts';
import {
  failureReason,
  messageStatus,
  permissionMode,
  sessionHint,
  sessionId,
  timeoutSeconds,
} from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.message.send',
  title: { en: 'Send a message to a session', 'zh-CN': '向会话发送消息' },
  summary: "Use to give a session's agent work or an answer; with wait, to get its reply in the same call.",
  description:
    'Stored before it is delivered, delivered exactly once; queues behind a running turn. The wait ends early where the agent asks a person (waitingFor) or the time is over (timedOut); the turn goes on.',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  clearable: ['permissionModeOverride', 'modelOverride'],
  positionals: ['sessionId', 'message'],
  next: {
    by: 'waitingFor.kind',
    commands: {
      permission: 'session permission respond {sessionId} <allow|deny>',
      question: 'session user-action answer {sessionId} accept [--content {waitingFor.fields}]',
    },
  },
  hints: { sessionId: sessionHint, message: { label: 'Message', widget: 'multiline' } },
  keywords: {
    en: ['prompt', 'ask', 'tell', 'chat', 'reply', 'instruct', 'continue', 'talk', 'input', 'task'],
    'zh-CN': ['发消息', '提问', '告诉', '回复', '继续', '指令'],
  },
  examples: [
    {
      title: 'Stop what it does and do this first',
      input: { sessionId: 'sess_123', message: 'say stop', delivery: 'interrupt' },
    },
    {
      title: 'Ask and wait for the reply',
      input: { sessionId: 'sess_123', message: 'say ping', wait: true, timeoutSeconds: 60 },
    },
  ],
  errors: [
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'session_archived',
    'conflict',
    'canceled',
    'invalid_input',
    'machine_offline',
    'daemon_not_running',
    'unsupported',
    'permission_escalation_denied',
    'rate_limited',
  ],
  input: z.object({
    sessionId: sessionId.optional(),
    message: z.string().min(1).max(1_000_000).describe('What to say to the agent.'),
    wait: z
      .boolean()
      .default(false)
      .describe("Wait for this message's own turn to end and answer with the reply."),
    timeoutSeconds: timeoutSeconds.optional(),
    messageId: z
      .string()
      .regex(/^[A-Za-z0-9_-]{8,64}$/, 'must be 8 to 64 letters, digits, _ or -')
      .optional()
      .describe('Your own id for it: sent twice, it is still one message.'),
    delivery: z
      .enum(DELIVERIES)
      .default('queue')
      .describe('While a turn runs: queue behind it, steer it (reach the agent inside it) or interrupt it.'),
    permissionModeOverride: permissionMode
      .nullish()
      .describe('Permission mode for this message only; null: none.'),
    modelOverride: z.string().min(1).max(200).nullish().describe('Model for this message only; null: none.'),
  }),
  output: z.object({
    sessionId: z.string().describe('Full session id.'),
    messageId: z.string().describe('Id of the message.'),
    status: messageStatus,
    timedOut: z.boolean().optional().describe('The wait ended before the turn.'),
    waitingFor: z
      .looseObject({})
      .optional()
      .describe(
        'The wait ended because the agent asks a person: kind (permission or question), requestId, title, options or fields. Answer it, then wait for idle.',
      ),
    reply: z.string().optional().describe("The turn's final text."),
    reason: failureReason.optional(),
  }),
  async run({ input, caller, ports, signal }) {
    refuseOverrides(input);
    refuseIdleWait(input);
    const sent = await ports.messages.send(
      {
        sessionId: input.sessionId!,
        text: input.message,
        messageId: input.messageId,
        delivery: input.delivery,
        permissionModeOverride: input.permissionModeOverride ?? undefined,
        modelOverride: input.modelOverride ?? undefined,
      },
      caller,
    );
    if (!input.wait) return sent;
    const { message, asking } = await ports.messages.wait(
      { messageId: sent.messageId, sessionId: sent.sessionId, delivery: input.delivery },
      waitSeconds(input.timeoutSeconds, caller),
      signal,
    );
    if (asking !== undefined) return { ...message, waitingFor: toWaitingFor(asking) };
    return isFinal(message.status) ? message : { ...message, timedOut: true };
  },
});

/** What a person is asked, in one shape for both kinds. */
function toWaitingFor({ permission, question }: Session): Record<string, unknown> {
  if (permission !== undefined) {
    const { requestId, title, options } = permission;
    return { kind: 'permission', requestId, title, options };
  }
  const { requestId, message: title, fields } = question ?? {};
  return { kind: 'question', requestId, title, ...(fields?.length ? { fields } : {}) };
}

/** A message inside a running turn has the mode and the model of that turn. */
function refuseOverrides(input: {
  delivery: string;
  permissionModeOverride?: string | null;
  modelOverride?: string | null;
}): void {
  if (input.delivery !== 'steer') return;
  const issues = (['permissionModeOverride', 'modelOverride'] as const)
    .filter((path) => input[path] != null)
    .map((path) => ({ path, message: 'goes with a turn of its own, not with delivery steer' }));
  if (issues.length > 0) throw invalidInput('session.message.send', issues);
}

/** A time to wait for nothing is a wait that was forgotten. */
function refuseIdleWait({ wait, timeoutSeconds }: { wait: boolean; timeoutSeconds?: number }): void {
  if (wait || !timeoutSeconds) return;
  const message = 'is for a call that waits: set wait too (--wait in a shell)';
  throw invalidInput('session.message.send', [{ path: 'timeoutSeconds', message }]);
}
