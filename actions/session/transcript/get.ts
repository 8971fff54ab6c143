import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { event, limit, sessionHint, sessionId } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.transcript.get',
  title: { en: "Read a session's transcript", 'zh-CN': '查看会话记录' },
  summary: 'Use to read what was said and done in a session: the newest events, or those after a number.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId'],
  hints: { sessionId: sessionHint },
  columns: [
    'seq',
    'at',
    'type',
    {
      label: 'what',
      of: [
        'text',
        'title',
        'request.title',
        'request.message',
        'reason.message',
        'outcome',
        'status',
        'resumed',
        'permissionMode',
        'modelId',
        'entries',
        'configOptions',
        'answer',
        'name',
        'path',
        'uri',
        'kind',
        'since',
      ],
      each: { entries: '{mark:status} {content}', configOptions: '{name}: {value}' },
      whole: true,
    },
  ],
  keywords: {
    en: ['history', 'log', 'messages', 'conversation', 'what happened', 'output', 'events', 'read'],
    'zh-CN': ['历史', '记录', '对话内容', '发生了什么', '日志'],
  },
  examples: [{ title: 'The newest events', input: { sessionId: 'sess_123', limit: 20 } }],
  errors: ['session_not_selected', 'session_not_found', 'session_ambiguous', 'invalid_input'],
  input: z.object({
    sessionId: sessionId.optional(),
    after: z
      .int()
      .min(0)
      .optional()
      .describe('Only events with a higher number than this, oldest first: follow a session with it.'),
    before: z
      .int()
      .min(1)
      .optional()
      .describe('Only events with a lower number than this: page back with it.'),
    types: z.array(z.string()).optional().describe('Only these kinds of event.'),
    limit: limit(50),
  }),
  output: z.object({
    sessionId: z.string().describe('Full session id.'),
    events: z.array(event).describe('Events in rising order of seq.'),
    lastSeq: z.int().describe('Number of the newest event that is stored.'),
  }),
  async run({ input: { sessionId, ...range }, ports }) {
    return { sessionId: sessionId!, ...(await ports.transcripts.page(sessionId!, range)) };
  },
});
