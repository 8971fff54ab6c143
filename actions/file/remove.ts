import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { fileId, storedFile } from '../_files.ts';
import { GOVERNANCE } from '../_surfaces.ts';

export default defineAction({
  id: 'file.remove',
  title: { en: 'Remove a file that was sent', 'zh-CN': '删除已发送的文件' },
  summary:
    'Use to free room at the backend: the stored file is gone for good; the one in the workspace stays.',
  effect: 'destructive',
  idempotent: true,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['fileId'],
  keywords: {
    en: ['delete', 'erase', 'free space', 'storage full', 'clean up', 'quota'],
    'zh-CN': ['删除文件', '释放空间', '清理', '存储已满'],
  },
  examples: [{ title: 'One of the list', input: { fileId: 'file_0123456789abcdef' } }],
  errors: ['not_found', 'unsupported'],
  input: z.object({ fileId }),
  output: storedFile.omit({ sealed: true }),
  async run({ input, ports }) {
    const { sealed: _, ...removed } = await ports.files.remove(input.fileId);
    return removed;
  },
});
