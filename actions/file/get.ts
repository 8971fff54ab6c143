import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { FILES_PATH } from '../../src/core/file.ts';
import { fileId, storedFile } from '../_files.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'file.get',
  title: { en: 'Find a file that was sent', 'zh-CN': '获取已发送的文件' },
  summary: 'Use to find where the ciphertext of a file is; `kaiwu file get` and the app decrypt it.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  positionals: ['fileId'],
  keywords: {
    en: ['download', 'open', 'fetch', 'save', 'receive'],
    'zh-CN': ['下载文件', '打开文件', '保存'],
  },
  examples: [{ title: 'One of the list', input: { fileId: 'file_0123456789abcdef' } }],
  errors: ['not_found'],
  input: z.object({ fileId }),
  output: storedFile.extend({
    contentPath: z
      .string()
      .describe('Path of the ciphertext at the backend; a signed-in device may read it.'),
  }),
  async run({ input, ports }) {
    const file = await ports.files.get(input.fileId);
    return { ...file, contentPath: `${FILES_PATH}/${file.fileId}/content` };
  },
});
