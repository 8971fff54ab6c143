import * as z from 'zod';
import { APPEND_MAX_EVENTS, type DaemonNotices, type LinkHello } from '../../core/link.ts';
import { PERMISSION_MODES, type SessionEvent } from '../../core/session.ts';

/** Schemas of what a daemon sends. A frame is never believed before it has passed one. */

const id = z.string().min(1).max(200);
const text = z.string();
const at = z.iso.datetime({ offset: true });
const mode = z.enum(PERMISSION_MODES);
const option = z.object({ id: text.max(500), name: text.max(500) });
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
        models: z.array(option).max(1000),
      }),
    )
    .max(200),
  sessions: z.array(z.object({ sessionId: id, lastSeq: z.int().min(0) })),
});

const permissionRequest = z.looseObject({
  requestId: id,
  title: text,
  options: z
    .array(
      z.looseObject({
        optionId: id,
        name: text,
        kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
      }),
    )
    .max(100),
});

/** Fields that a newer daemon adds are kept: a newer backend may read them later. */
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.looseObject({ seq: z.int().min(1), at, type: z.literal(type), ...shape });

const eventSchema = z.discriminatedUnion('type', [
  event('session_started', {
    acpSessionId: text,
    permissionMode: mode,
    modelId: text.optional(),
    models: z.array(option).max(1000),
    resumed: z.enum(['new', 'loaded', 'without_history']),
  }),
  event('user_message', { messageId: id, text, permissionMode: mode.optional(), modelId: text.optional() }),
  event('agent_text', { messageId: id, block: z.int().min(0), text }),
  event('agent_thought', { messageId: id, block: z.int().min(0), text }),
  event('tool_call', {
    messageId: id,
    toolCallId: text,
    title: text.optional(),
    kind: text.optional(),
    status: text.optional(),
    content: z.unknown().optional(),
  }),
  event('plan', { messageId: id, entries: z.unknown() }),
  event('permission_requested', { messageId: id, request: permissionRequest }),
  event('permission_resolved', {
    messageId: id,
    requestId: id,
    optionId: text.optional(),
    outcome: z.enum(['allowed', 'refused', 'canceled']),
    by: text,
  }),
  event('turn_ended', {
    messageId: id,
    outcome: z.enum(['completed', 'failed', 'canceled']),
    stopReason: text.optional(),
    reason: reason.optional(),
  }),
  event('message_canceled', { messageId: id, reason }),
  event('title_suggested', { title: text }),
  event('mode_changed', { permissionMode: mode }),
  event('model_changed', { modelId: text }),
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
