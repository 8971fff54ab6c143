import * as z from 'zod';
import { APPEND_MAX_EVENTS, type DaemonNotices, EVENT_LIMITS, type LinkHello } from '../../core/link.ts';
import { PERMISSION_MODES, type SessionEvent } from '../../core/session.ts';

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
const reason = z.object({ code: text.max(100), message: text });

export const helloSchema: z.ZodType<LinkHello> = z.object({
  protocol: z.int(),
  machineId: id,
  machineName: z.string().min(1).max(200),
  platform: text.max(100),
  daemonVersion: text.max(100),
  instanceId: id,
  agents: z
    .array(
      z.object({
        agentId: id,
        name: text.max(200),
        available: z.boolean(),
        reason: text.max(2000).optional(),
        install: text.max(2000).optional(),
        version: text.max(200).optional(),
        permissionModes: z.array(mode),
        models,
      }),
    )
    .max(200),
  sessions: z.array(z.object({ sessionId: id, lastSeq: z.int().min(0) })),
});

const permissionRequest = z.looseObject({
  requestId: id,
  title,
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

/** Fields that a newer daemon adds are kept: a newer backend may read them later. */
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.looseObject({ seq: z.int().min(1), at, type: z.literal(type), ...shape });

const eventSchema = z.discriminatedUnion('type', [
  event('session_started', {
    acpSessionId: text.max(EVENT_LIMITS.acpSessionId),
    permissionMode: mode,
    modelId: modelId.optional(),
    models,
    resumed: z.enum(['new', 'loaded', 'without_history']),
  }),
  event('user_message', {
    messageId: id,
    text,
    permissionMode: mode.optional(),
    modelId: modelId.optional(),
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
  event('permission_requested', { messageId: id, request: permissionRequest }),
  event('permission_resolved', {
    messageId: id,
    requestId: id,
    optionId: id.optional(),
    outcome: z.enum(['allowed', 'refused', 'canceled']),
    by: text,
  }),
  event('turn_ended', {
    messageId: id,
    outcome: z.enum(['completed', 'failed', 'canceled']),
    stopReason: word.optional(),
    reason: reason.optional(),
  }),
  event('message_canceled', { messageId: id, reason }),
  event('title_suggested', { title }),
  event('mode_changed', { permissionMode: mode }),
  event('model_changed', { modelId }),
  event('session_stopped', { reason: reason.optional() }),
  event('session_failed', { reason }),
  event('notice', { text, data: z.unknown().optional() }),
]);

export const appendSchema: z.ZodType<{ sessionId: string; events: SessionEvent[] }> = z.object({
  sessionId: id,
  events: z.array(eventSchema).min(1).max(APPEND_MAX_EVENTS),
});

export const deltaSchema: z.ZodType<DaemonNotices['delta']> = z.object({
  sessionId: id,
  messageId: id,
  kind: z.enum(['text', 'thought']),
  block: z.int().min(0),
  text,
});
