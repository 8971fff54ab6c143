import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { agent, machineHint, machineId } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'agents.backends.list',
  title: { en: 'List agents', 'zh-CN': '列出智能体' },
  summary: 'Use to see which agents a machine can run, which lack something, and the command that mends it.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  anySession: true,
  session: 'none',
  hints: { machineId: machineHint },
  columns: [
    { label: 'id', of: ['agentId'] },
    'name',
    'state',
    'version',
    { label: 'next step', of: ['setup', 'reason'], whole: true, every: true },
  ],
  commands: ['agents list'],
  keywords: {
    en: [
      'available',
      'signed in',
      'sign in',
      'set up',
      'installed',
      'providers',
      'claude',
      'codex',
      'gemini',
      'opencode',
      'kilo',
      'which agents',
    ],
    'zh-CN': ['智能体', '可用', '已安装', '后端', '登录', '设置'],
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
