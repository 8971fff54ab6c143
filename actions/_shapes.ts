import * as z from 'zod';
import {
  MESSAGE_STATUSES,
  PERMISSION_MODES,
  type Question,
  type Session,
  SESSION_STATUSES,
  type Usage,
  type Worktree,
} from '../src/core/session.ts';
import type { FieldHint } from '../src/core/spec.ts';
import { isVisible } from '../src/core/visible-text.ts';

/** Shapes that several actions share. Each field says what it is, once. */

export const sessionId = z
  .string()
  .min(1)
  .max(64)
  .describe(
    'Session id, or a prefix of it that fits one session only. Default: the session that the caller was started for.',
  );

export const machineId = z
  .string()
  .min(1)
  .max(64)
  .describe('Machine id. Default: the machine that the caller runs on, else the only one.');

export const permissionMode = z
  .enum(PERMISSION_MODES)
  .describe('What the agent may do unasked: default, plan, read_only, accept_edits or bypass.');

/** A text that stands for something has to be seen. */
const visible = (max: number) =>
  z
    .string()
    .trim()
    .min(1, { abort: true })
    .max(max)
    .refine(isVisible, 'must have a character that can be seen');

export const sessionTitle = visible(200);

export const tag = visible(40).describe('Tag, 1 to 40 characters.');

export const directory = z.string().min(1, { abort: true }).max(4096).refine(isVisible, 'must not be blank');

export const timeoutSeconds = z
  .int()
  .min(0)
  .max(3600)
  .describe(
    'Longest wait in seconds. When it is over the answer says how things stand then; nothing is stopped.',
  );

export const limit = (fallback: number) =>
  z
    .int()
    .min(1)
    .max(200)
    .default(fallback)
    .describe(`Most rows in one answer, 1 to 200. Default ${fallback}.`);

export const cursor = z
  .string()
  .max(500)
  .describe('nextCursor of the page before, unchanged. Leave out for the first page.');

export const nextCursor = z
  .string()
  .optional()
  .describe('Pass as cursor for the next page; absent on the last one.');

export const time = (what: string) => z.string().describe(`${what}, RFC 3339.`);

const reason = z
  .object({
    code: z.string().describe('Stable code of the cause.'),
    message: z.string().describe('What happened, in a sentence.'),
    hint: z.string().optional().describe('The next step.'),
  })
  .describe('Why it failed or stopped.');

const option = z.object({
  id: z.string().describe('Id.'),
  name: z.string().describe('Name for people.'),
});

export const configOption = z.object({
  configId: z.string().describe('Id to set it by.'),
  name: z.string().describe('Name for people.'),
  description: z.string().optional().describe('What it does.'),
  kind: z.enum(['select', 'boolean']).describe('select: one of options. boolean: true or false.'),
  value: z.string().describe('Value now: id of an option, or true or false.'),
  options: z.array(option).describe('Values of a select.'),
});

export const permissionRequest = z.object({
  requestId: z.string().describe('Id of the request.'),
  title: z.string().describe('What the agent asks to do.'),
  options: z
    .array(
      z.object({
        optionId: z.string().describe('Id to answer with.'),
        name: z.string().describe("The agent's own words for it."),
        kind: z
          .enum(['allow_once', 'allow_always', 'reject_once', 'reject_always'])
          .describe('What it means.'),
      }),
    )
    .describe('The answers that the agent offers.'),
  kind: z.string().optional().describe('Kind of step: read, edit, execute ...'),
  toolCallId: z.string().optional().describe('Tool call of the transcript that it is about.'),
});

export const question = z.object({
  requestId: z.string().describe('Id of the question.'),
  message: z.string().describe('What the agent asks.'),
  fields: z
    .array(
      z.object({
        name: z.string().describe('Name to answer under.'),
        title: z.string().optional().describe('Name for people.'),
        description: z.string().optional().describe('What is meant.'),
        type: z
          .enum(['text', 'number', 'integer', 'boolean', 'choice', 'choices'])
          .describe('choice: one of options. choices: a list of them.'),
        required: z.boolean().describe('Must be answered.'),
        options: z.array(option).optional().describe('What can be chosen.'),
      }),
    )
    .describe('Form of the answer; empty: a yes or a no.'),
});

/** A session in a list. */
export const sessionRow = z.object({
  sessionId: z.string().describe('Full session id.'),
  title: z.string().optional().describe('Title, by the user or else by the agent.'),
  status: z
    .enum(SESSION_STATUSES)
    .describe('starting, idle, running, waiting (for a person), stopped or failed.'),
  agentId: z.string().describe('Agent that runs it.'),
  machineId: z.string().describe('Machine that it runs on.'),
  directory: z.string().describe('Workspace, an absolute path on that machine.'),
  permissionMode,
  modelId: z.string().optional().describe('Model, where the agent has several.'),
  createdAt: time('When it was created'),
  updatedAt: time('When it last changed'),
  archivedAt: time('When it was archived').optional(),
  lastSeq: z.int().describe('Number of the newest transcript event that is stored.'),
  reason: reason.optional(),
  machineOfflineSince: time('Since when its machine has not been linked').optional(),
  tags: z.array(z.string()).describe('Its tags.'),
  parentSessionId: z.string().optional().describe('Session that started it.'),
  depth: z.int().describe('Steps below its root; 0 for a root.'),
  runId: z.string().optional().describe('Execution run that it carries out.'),
  stalledSince: time('Since when nothing was heard of its turn').optional(),
});

/** An object that a description tells of: every host pays for the words of a schema in each conversation. */
const open = <T extends object>(): z.ZodType<T, T> => z.looseObject({}) as unknown as z.ZodType<T, T>;

/** All of a session. */
export const session = sessionRow.extend({
  permission: permissionRequest.optional().describe('Open permission request, while waiting.'),
  question: open<Question>()
    .optional()
    .describe('Open question of the agent, while waiting: requestId, message, fields. See inbox.list.'),
  additionalDirectories: z.array(z.string()).optional().describe('Further directories of its workspace.'),
  environmentNames: z
    .array(z.string())
    .optional()
    .describe('Variables that it was given; values are secret.'),
  mcpServers: z
    .array(z.string())
    .optional()
    .describe('Managed MCP servers whose tools it may use; absent: all that they allow.'),
  worktree: open<Worktree>()
    .optional()
    .describe('Git worktree that was made for it: path, branch, repository.'),
  forkedFrom: open<NonNullable<Session['forkedFrom']>>()
    .optional()
    .describe('Where its conversation began: sessionId, seq.'),
  usage: open<Usage>()
    .optional()
    .describe(
      'What it used, as far as its agent says: inputTokens, outputTokens, totalTokens, contextUsed, contextSize, cost (amount, currency; of the whole session).',
    ),
});

export const lineage = z
  .array(sessionRow.pick({ sessionId: true, title: true }))
  .describe('Sessions from the root down to this one.');

/** What a change of a session answers: the few fields that a change can touch. Ask for the status to get the rest. */
export const sessionBrief = sessionRow.pick({
  sessionId: true,
  title: true,
  status: true,
  permissionMode: true,
  modelId: true,
  archivedAt: true,
  reason: true,
});

export const messageStatus = z
  .enum(MESSAGE_STATUSES)
  .describe('queued, running, completed, failed or canceled.');

export const failureReason = reason;

export const event = z.looseObject({
  seq: z.int().describe('Number in the transcript, from 1 without gaps.'),
  at: time('When it was recorded'),
  type: z.string().describe('Kind of event, for example user_message, agent_text, tool_call, turn_ended.'),
});

export const agent = z.object({
  agentId: z.string().describe('Id to spawn it by.'),
  name: z.string().describe('Name for people.'),
  available: z.boolean().describe('Whether it can be started on this machine.'),
  state: z
    .enum(['ready', 'needs_setup', 'not_installed'])
    .describe('needs_setup: found, but nobody is signed in or a setting is missing.'),
  setup: z.string().optional().describe('Command that makes it ready.'),
  source: z.enum(['built_in', 'added']).describe('Comes with Kaiwu, or was added by the person.'),
  features: z.array(z.string()).optional().describe('What it can do, as it last said: load, fork, steer ...'),
  reason: z.string().optional().describe('Why it is not available or not ready.'),
  install: z.string().optional().describe('Command that installs it.'),
  version: z.string().optional().describe('Version that was found.'),
  permissionModes: z.array(z.enum(PERMISSION_MODES)).describe('Permission modes that it offers.'),
});

/** Form hints for fields that name a session, a machine or an agent. */
export const sessionHint: FieldHint = {
  label: 'Session',
  widget: 'session',
  options: { action: 'session.list', items: 'sessions', value: 'sessionId', label: 'title' },
};

export const machineHint: FieldHint = {
  label: 'Machine',
  widget: 'select',
  options: { action: 'machines.list', items: 'machines', value: 'machineId', label: 'name' },
};

export const agentHint: FieldHint = {
  label: 'Agent',
  widget: 'select',
  options: {
    action: 'agents.backends.list',
    input: { machineId: '$machineId' },
    items: 'agents',
    value: 'agentId',
    label: 'name',
  },
};

/** What is asked of an agent, or of the agent of a session. */
export const ofAgentOrSession = {
  agentId: z.string().optional().describe('Agent. Not needed with a session.'),
  sessionId: z.string().min(1).max(64).optional().describe('Session whose agent is asked. Default: none.'),
  machineId: machineId.optional(),
};

export const ofAgentOrSessionHints = { agentId: agentHint, sessionId: sessionHint, machineId: machineHint };
