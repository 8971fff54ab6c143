import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { filesUsage, storedFile } from '../_files.ts';
import { cursor, limit, nextCursor, sessionHint, sessionId } from '../_shapes.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'file.list',
  title: { en: 'List files that were sent', 'zh-CN': '列出已发送的文件' },
  summary: 'Use to see which files sessions have sent to the person. Newest first.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  hints: { sessionId: sessionHint },
  columns: [
    { label: 'id', of: ['fileId'] },
    { label: 'session', of: ['sessionId'] },
    { label: 'size', of: ['sizeBytes'] },
    { label: 'sent', of: ['createdAt'] },
  ],
  keywords: {
    en: ['downloads', 'deliveries', 'attachments', 'received', 'artifacts'],
    'zh-CN': ['文件列表', '已收到的文件', '附件', '下载'],
  },
  examples: [{ title: 'The newest', input: { limit: 5 } }],
  errors: ['invalid_input', 'session_not_found', 'session_ambiguous'],
  input: z.object({
    sessionId: sessionId.optional().describe('Only files of this session. Default: all.'),
    limit: limit(50),
    cursor: cursor.optional(),
  }),
  output: z.object({
    files: z.array(storedFile).describe('Files, newest first.'),
    nextCursor,
    usage: filesUsage,
  }),
  async run({ input: { limit, cursor, ...filter }, ports }) {
    const { items, nextCursor } = await ports.files.list(filter, { limit, cursor });
    return { files: items, nextCursor, usage: await ports.files.usage() };
  },
});
