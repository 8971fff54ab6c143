import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'machines.list',
  title: { en: 'List machines', 'zh-CN': '列出机器' },
  summary: 'Use to see the machines that run a daemon, and which of them are online.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  anySession: true,
  session: 'none',
  columns: [
    { label: 'id', of: ['machineId'] },
    'name',
    'online',
    { label: 'last seen', of: ['lastSeenAt'] },
    'platform',
    { label: 'version', of: ['daemonVersion'] },
    { label: 'this one', of: ['current'] },
  ],
  keywords: {
    en: ['computers', 'hosts', 'daemons', 'online', 'offline', 'devices', 'servers', 'where'],
    'zh-CN': ['机器', '电脑', '主机', '在线', '守护进程'],
  },
  examples: [{ title: 'All machines', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({
    machines: z
      .array(
        z.object({
          machineId: z.string().describe('Id to choose it by.'),
          name: z.string().describe('Name for people.'),
          platform: z.string().describe('Operating system and processor.'),
          online: z.boolean().describe('Whether its daemon is linked now.'),
          lastSeenAt: z.string().describe('When its link was last alive, RFC 3339.'),
          daemonVersion: z.string().describe('Version of its daemon.'),
          current: z.boolean().describe('Whether the caller runs on it.'),
        }),
      )
      .describe('Machines, most recently seen first.'),
  }),
  async run({ caller, ports }) {
    return { machines: await ports.machines.list(caller) };
  },
});
