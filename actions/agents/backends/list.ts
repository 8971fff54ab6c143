import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { agent, machineHint, machineId } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'agents.backends.list',
  title: { en: 'List agents', 'zh-CN': '列出智能体' },
  summary: 'Use to see which agents a machine can run, why one is missing and how to install it.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  hints: { machineId: machineHint },
  columns: [
    { label: 'id', of: ['agentId'] },
    'name',
    'available',
    'version',
    { label: 'install', of: ['install'], whole: true },
  ],
  keywords: {
    en: [
      'available',
      'installed',
      'providers',
      'claude',
      'codex',
      'gemini',
      'opencode',
      'kilo',
      'which agents',
    ],
    'zh-CN': ['智能体', '可用', '已安装', '后端'],
  },
  examples: [{ title: 'On this machine', input: {} }],
  errors: ['machine_not_found', 'machine_offline', 'daemon_not_running'],
  input: z.object({ machineId: machineId.optional() }),
  output: z.object({
    machineId: z.string().describe('Machine that was asked.'),
    agents: z.array(agent).describe('Agents, available ones first.'),
  }),
  run: ({ input, caller, ports }) => ports.agents.backends(input.machineId, caller),
});
