import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { GOVERNANCE } from '../_surfaces.ts';

export default defineAction({
  id: 'device.approve',
  title: { en: 'Let a device sign in', 'zh-CN': '批准设备登录' },
  summary: 'Use when a new device shows a code: typing it here signs that device in to this account.',
  effect: 'write',
  idempotent: false,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['userCode'],
  keywords: {
    en: ['sign in', 'login code', 'link device', 'add device', 'pair'],
    'zh-CN': ['登录码', '绑定设备', '批准登录'],
  },
  examples: [{ title: 'A code from another screen', input: { userCode: 'BCDF-GHJK' } }],
  errors: ['not_found', 'conflict'],
  commands: ['auth approve'],
  secrets: ['sealedKey'],
  input: z.object({
    userCode: z.string().min(4).max(20).describe('Code that the new device shows, for example BCDF-GHJK.'),
    sealedKey: z
      .string()
      .max(4096)
      .optional()
      .describe("The account's key, encrypted to the device; `kaiwu auth approve` and the app add it."),
  }),
  output: z.object({ deviceName: z.string().describe('Name of the device that may sign in now.') }),
  run: ({ input, caller, ports }) => ports.identity.approveDevice(input.userCode, caller, input.sealedKey),
});
