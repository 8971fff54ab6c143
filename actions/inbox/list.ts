import * as z from 'zod';
import { INBOX_KINDS } from '../../src/core/ports/inbox.ts';
import { defineAction } from '../../src/core/spec.ts';
import { approval } from '../_governance.ts';
import { reachable } from '../_lineage.ts';
import {
  cursor,
  failureReason,
  limit,
  lineage,
  nextCursor,
  permissionRequest,
  question,
  sessionHint,
  time,
} from '../_shapes.ts';
import { SUPERVISION } from '../_surfaces.ts';

export default defineAction({
  id: 'inbox.list',
  title: { en: 'See what waits for you', 'zh-CN': '查看待处理事项' },
  summary:
    'Use to see everything that waits for a person: approvals, permission requests, questions, failed and stalled sessions.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: SUPERVISION,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  commands: ['inbox'],
  hints: { sessionId: sessionHint },
  columns: [
    'kind',
    { label: 'what', of: ['title'] },
    {
      label: 'session',
      of: ['lineage', 'sessionId'],
      each: { lineage: '{title|sessionId}' },
      between: ' › ',
    },
    { label: 'agent', of: ['agentId'] },
    { label: 'since', of: ['at'] },
  ],
  next: {
    by: 'kind',
    commands: {
      approval: 'approval request decide {itemId} <approve|deny>',
      permission: 'session permission respond {sessionId} <allow|deny>',
      question: 'session user-action answer {sessionId} accept [--content {question.fields}]',
      failed: 'session status get {sessionId}',
      stalled: 'session transcript get {sessionId}',
    },
  },
  keywords: {
    en: ['todo', 'pending', 'attention', 'waiting for me', 'requests', 'notifications', 'stuck', 'failed'],
    'zh-CN': ['收件箱', '待办', '等待我', '需要处理', '失败', '卡住'],
  },
  examples: [
    { title: 'All of it', input: {} },
    {
      title: 'Permission requests of one session and those below it',
      input: { kind: 'permission', sessionId: 'sess_123' },
    },
  ],
  errors: ['session_not_found', 'session_ambiguous', 'invalid_input'],
  input: z.object({
    kind: z.enum(INBOX_KINDS).optional().describe('Only approval, permission, question, failed or stalled.'),
    sessionId: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('Only what this session and those below it ask: its id, or a prefix that fits one only.'),
    limit: limit(50),
    cursor: cursor.optional(),
  }),
  output: z.object({
    items: z
      .array(
        z.object({
          itemId: z
            .string()
            .describe('Id of the approval or request; of the session where it failed or stalled.'),
          kind: z.enum(INBOX_KINDS).describe('What it is.'),
          title: z.string().describe('What is asked or what happened.'),
          at: time('Since when'),
          sessionId: z.string().optional().describe('Session that asks.'),
          machineId: z.string().optional().describe('Its machine.'),
          agentId: z.string().optional().describe('Its agent.'),
          lineage: lineage.describe('Sessions from the root down to the one that asks.'),
          approval: approval.optional().describe('Decide it with approval.request.decide.'),
          permission: permissionRequest.optional().describe('Answer it with session.permission.respond.'),
          question: question.optional().describe('Answer it with session.user_action.answer.'),
          reason: failureReason.optional(),
        }),
      )
      .describe('What waits, newest first.'),
    nextCursor,
  }),
  async run({ input: { limit, cursor, ...filter }, caller, ports }) {
    const { items, ...rest } = await ports.inbox.list(filter, { limit, cursor });
    return {
      items: items.map((item) => ({ ...item, lineage: reachable(item.lineage, caller) })),
      ...rest,
    };
  },
});
