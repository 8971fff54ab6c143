import * as z from 'zod';
import { APPEND_MAX_EVENTS, type DaemonNotices, EVENT_LIMITS, type LinkHello } from '../../core/link.ts';
import { AGENT_FEATURES, type AgentFeature } from '../../core/agent.ts';
import { PERMISSION_MODES, QUESTION_ANSWERS, type SessionEvent } from '../../core/session.ts';
import { toAgentInfo } from '../agent-info.ts';

/** Schemas of what a daemon sends. A frame is never believed before it has passed one. */

const id = z.string().min(1).max(EVENT_LIMITS.id);
const text = z.string();
const word = text.max(EVENT_LIMITS.word);
const title = text.max(EVENT_LIMITS.title);
const modelId = text.max(EVENT_LIMITS.name);
const at = z.iso.datetime({ offset: true });
const mode = z.enum(PERMISSION_MODES);
const option = z.object({ id: modelId, name: text.max(EVENT_LIMITS.name) });
const models = z.array(option).max(EVENT_LIMITS.models);
const reason = z.object({ code: text.max(100), message: text, hint: text.optional() });
const path = text.max(EVENT_LIMITS.path);
const count = z.number().min(0);
const usage = z.object({
  inputTokens: count.optional(),
  outputTokens: count.optional(),
  totalTokens: count.optional(),
  contextUsed: count.optional(),
  contextSize: count.optional(),
  cost: z.object({ amount: count, currency: text.max(20) }).optional(),
});
const configOptions = z
  .array(
    z.object({
      configId: modelId,
      name: text.max(EVENT_LIMITS.name),
      description: text.max(EVENT_LIMITS.title).optional(),
      kind: z.enum(['select', 'boolean']),
      value: z.union([text.max(EVENT_LIMITS.name), z.boolean()]),
      options: models,
    }),
  )
  .max(EVENT_LIMITS.configOptions);
const worktree = z.object({ path, branch: path, repository: path });

/** Of a newer daemon's features those that are known here. */
const isFeature = (name: string): name is AgentFeature => AGENT_FEATURES.some((known) => known === name);

/** An older daemon says only whether the program is there. */
const agent = z
  .object({
    agentId: id,
    name: text.max(200),
    available: z.boolean(),
    state: z.enum(['ready', 'needs_setup', 'not_installed']).optional(),
    setup: text.max(2000).optional(),
    source: z.enum(['built_in', 'added']).optional(),
    features: z
      .array(text.max(100))
      .max(100)
      .transform((names) => names.filter(isFeature))
      .optional(),
    reason: text.max(2000).optional(),
    install: text.max(2000).optional(),
    version: text.max(200).optional(),
    permissionModes: z.array(mode),
    models,
  })
  .transform(toAgentInfo);

const agents = z.array(agent).max(200);

export const helloSchema: z.ZodType<LinkHello> = z.object({
  protocol: z.int(),
  machineId: id,
  machineName: z.string().min(1).max(200),
  platform: text.max(100),
  daemonVersion: text.max(100),
  instanceId: id,
  agents,
  sessions: z.array(z.object({ sessionId: id, lastSeq: z.int().min(0) })),
});

/** Answer to `agents.list`. */
export const agentsSchema = z.object({ agents });

const permissionRequest = z.looseObject({
  requestId: id,
  title,
  kind: word.optional(),
  toolCallId: id.optional(),
  askedAt: at.optional(),
  options: z
    .array(
      z.looseObject({
        optionId: id,
        name: text.max(EVENT_LIMITS.name),
        kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
      }),
    )
    .max(EVENT_LIMITS.permissionOptions),
});

const question = z.looseObject({
  requestId: id,
  message: text.max(EVENT_LIMITS.question),
  fields: z
    .array(
      z.looseObject({
        name: modelId,
        title: text.max(EVENT_LIMITS.name).optional(),
        description: title.optional(),
        type: z.enum(['text', 'number', 'integer', 'boolean', 'choice', 'choices']),
        required: z.boolean(),
        options: models.optional(),
      }),
    )
    .max(EVENT_LIMITS.questionFields),
  askedAt: at.optional(),
});

/** Fields that a newer daemon adds are kept: a newer backend may read them later. */
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.looseObject({ seq: z.int().min(1), at, type: z.literal(type), ...shape });

const eventSchema = z.discriminatedUnion('type', [
  event('session_started', {
    acpSessionId: text.max(EVENT_LIMITS.acpSessionId),
    permissionMode: mode,
    modelId: modelId.optional(),
    models,
    configOptions: configOptions.optional(),
    directory: path.optional(),
    worktree: worktree.optional(),
    resumed: z.enum(['new', 'loaded', 'replayed', 'without_history', 'forked']),
    continues: id.optional(),
  }),
  event('user_message', {
    messageId: id,
    text,
    permissionMode: mode.optional(),
    modelId: modelId.optional(),
    steered: id.optional(),
  }),
  event('agent_text', { messageId: id, block: z.int().min(0), text }),
  event('agent_thought', { messageId: id, block: z.int().min(0), text }),
  event('tool_call', {
    messageId: id,
    toolCallId: id,
    title: title.optional(),
    kind: word.optional(),
    status: word.optional(),
    content: z.unknown().optional(),
  }),
  event('plan', { messageId: id, entries: z.unknown() }),
  event('agent_attachment', {
    messageId: id,
    kind: z.enum(['image', 'audio', 'file', 'link']),
    name: text.max(EVENT_LIMITS.title).optional(),
    mimeType: word.optional(),
    bytes: z.int().min(0).optional(),
    sha256: word.optional(),
    path: path.optional(),
    uri: path.optional(),
  }),
  event('permission_requested', { messageId: id, request: permissionRequest }),
  event('permission_resolved', {
    messageId: id,
    requestId: id,
    optionId: id.optional(),
    outcome: z.enum(['allowed', 'refused', 'canceled']),
    by: text,
  }),
  event('question_asked', { messageId: id, request: question }),
  event('question_answered', {
    messageId: id,
    requestId: id,
    answer: z.enum(QUESTION_ANSWERS),
    by: text,
  }),
  event('stalled', { messageId: id, since: at.nullable() }),
  event('turn_ended', {
    messageId: id,
    outcome: z.enum(['completed', 'failed', 'canceled']),
    stopReason: word.optional(),
    reason: reason.optional(),
    usage: usage.optional(),
    steered: id.optional(),
  }),
  event('message_canceled', { messageId: id, reason }),
  event('title_suggested', { title }),
  event('mode_changed', { permissionMode: mode }),
  event('model_changed', { modelId, models: models.optional() }),
  event('config_options_changed', { configOptions }),
  event('session_stopped', { reason: reason.optional() }),
  event('session_failed', { reason }),
  event('notice', { text, data: z.unknown().optional() }),
]);

export const appendSchema: z.ZodType<{ sessionId: string; events: SessionEvent[] }> = z.object({
  sessionId: id,
  events: z.array(eventSchema).min(1).max(APPEND_MAX_EVENTS),
});

export const sessionTokenSchema: z.ZodType<{ sessionId: string }> = z.object({ sessionId: id });

export const tailSchema: z.ZodType<{ sessionId: string; maxChars: number }> = z.object({
  sessionId: id,
  maxChars: z.int().min(0),
});

export const deltaSchema: z.ZodType<DaemonNotices['delta']> = z.object({
  sessionId: id,
  messageId: id,
  kind: z.enum(['text', 'thought']),
  block: z.int().min(0),
  text,
});
