import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { limit, machineHint } from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'paths.list_recent',
  title: { en: 'List recent workspaces', 'zh-CN': '列出最近使用的目录' },
  summary: 'Use to choose a workspace: directories that sessions used, most recent first.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  hints: { machineId: machineHint },
  columns: [
    'path',
    { label: 'machine', of: ['machineId'] },
    'sessions',
    { label: 'last used', of: ['lastUsedAt'] },
  ],
  keywords: {
    en: ['directories', 'folders', 'projects', 'workspaces', 'repositories', 'recent'],
    'zh-CN': ['目录', '文件夹', '项目', '最近', '工作区'],
  },
  examples: [{ title: 'On all machines', input: {} }],
  errors: [],
  input: z.object({
    machineId: z.string().optional().describe('Only directories of this machine. Default: all.'),
    limit: limit(20),
  }),
  output: z.object({
    paths: z
      .array(
        z.object({
          path: z.string().describe('Absolute path.'),
          machineId: z.string().describe('Machine that it is on.'),
          lastUsedAt: z.string().describe('When a session last used it, RFC 3339.'),
          sessions: z.int().describe('Sessions that used it.'),
        }),
      )
      .describe('Directories, most recent first.'),
  }),
  async run({ input, ports }) {
    return { paths: await ports.machines.recentPaths(input) };
  },
});
