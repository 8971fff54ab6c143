import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { cursor, limit, nextCursor, sessionHint } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.transcript.search',
  title: { en: 'Search transcripts', 'zh-CN': '搜索会话记录' },
  summary: 'Use to find where something was said or done, in one session or in all.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  positionals: ['query'],
  hints: { sessionId: sessionHint },
  columns: [
    { label: 'session', of: ['sessionId'] },
    'seq',
    'at',
    'type',
    { label: 'excerpt', of: ['excerpt'], whole: true },
  ],
  keywords: {
    en: ['find', 'grep', 'look for', 'where was', 'history', 'text'],
    'zh-CN': ['搜索', '查找', '全文', '哪里提到'],
  },
  examples: [{ title: 'Everywhere', input: { query: 'flaky' } }],
  errors: ['session_not_found', 'session_ambiguous', 'invalid_input'],
  input: z.object({
    query: z.string().trim().min(1).max(200).describe('Text to find, any case.'),
    sessionId: z.string().min(1).max(64).optional().describe('Only this session. Default: all.'),
    limit: limit(20),
    cursor: cursor.optional(),
  }),
  output: z.object({
    matches: z
      .array(
        z.object({
          sessionId: z.string().describe('Session of the event.'),
          seq: z.int().describe('Number of the event.'),
          at: z.string().describe('When it was recorded, RFC 3339.'),
          type: z.string().describe('Kind of event.'),
          excerpt: z.string().describe('Text around the match.'),
        }),
      )
      .describe('Matches, newest first.'),
    nextCursor,
  }),
  async run({ input: { query, sessionId, limit, cursor }, ports }) {
    const { items, nextCursor } = await ports.transcripts.search(query, { sessionId }, { limit, cursor });
    return { matches: items, nextCursor };
  },
});
