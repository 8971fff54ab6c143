import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { memoryErrors, scope, tags } from '../_memory.ts';
import { sessionHint, sessionId } from '../_shapes.ts';
import { RELATED } from '../_surfaces.ts';

export default defineAction({
  id: 'memory.ingest',
  title: { en: 'Take a document in', 'zh-CN': '收录文档' },
  summary: 'Use to remember a text, or a text file of a session’s workspace, cut into passages.',
  description: 'What was taken in of the same file before is replaced.',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: RELATED,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  transient: ['text'],
  hints: { sessionId: sessionHint },
  keywords: {
    en: ['index', 'document', 'file', 'add', 'import', 'knowledge'],
    'zh-CN': ['收录', '文档', '索引', '导入'],
  },
  examples: [{ title: 'A text', input: { text: 'Releases are cut on Mondays.', tags: ['release'] } }],
  errors: [
    ...memoryErrors,
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'session_directory_unavailable',
    'access_denied',
    'file_not_found',
    'file_read_error',
    'is_directory',
    'not_a_file',
    'file_too_large',
    'payload_too_large',
    'machine_offline',
    'daemon_not_running',
  ],
  input: z
    .object({
      sessionId: sessionId.optional(),
      path: z.string().min(1).max(4096).optional().describe('Text file, from the workspace of the session.'),
      text: z.string().trim().min(1).max(2_000_000).optional().describe('In place of a path: the text.'),
      tags,
      scope: scope.default({}),
    })
    .refine(({ path, text }) => (path === undefined) !== (text === undefined), {
      path: ['path'],
      message: 'either path or text has to be given, and not both',
    }),
  output: z.object({
    ids: z.array(z.string()).describe('Passages that were stored.'),
    replaced: z.int().describe('Passages of the same file that they replace.'),
  }),
  run: ({ input, caller, ports }) => ports.memory.ingest(input, caller),
});
