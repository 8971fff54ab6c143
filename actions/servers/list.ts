import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'servers.list',
  title: { en: 'List backend servers', 'zh-CN': '列出服务器' },
  summary: 'Use to see which backend serves this account: address, version, database.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  columns: ['url', 'version', 'database', { label: 'started', of: ['startedAt'] }],
  keywords: {
    en: ['backend', 'nodes', 'address', 'url', 'version', 'health'],
    'zh-CN': ['服务器', '后端', '地址', '版本'],
  },
  examples: [{ title: 'The backend', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({
    servers: z
      .array(
        z.object({
          serverId: z.string().describe('Id of the backend.'),
          url: z.string().describe('Address.'),
          version: z.string().describe('Version of Kaiwu that it runs.'),
          startedAt: z.string().describe('When it started, RFC 3339.'),
          database: z.enum(['sqlite', 'postgres']).describe('Where it keeps its state.'),
        }),
      )
      .describe('Backend nodes of this account.'),
  }),
  async run({ ports }) {
    return { servers: await ports.servers.list() };
  },
});
