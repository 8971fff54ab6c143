import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { device } from '../_governance.ts';
import { GOVERNANCE } from '../_surfaces.ts';

export default defineAction({
  id: 'device.revoke',
  title: { en: 'Revoke a device', 'zh-CN': '撤销设备' },
  summary: 'Use to sign a device out for good: every token of it stops working at once.',
  effect: 'destructive',
  idempotent: true,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['deviceId'],
  keywords: {
    en: ['sign out', 'log out', 'lost phone', 'remove device', 'stolen'],
    'zh-CN': ['撤销', '登出设备', '移除设备'],
  },
  examples: [{ title: 'A lost laptop', input: { deviceId: 'dev_123' } }],
  errors: ['not_found'],
  input: z.object({ deviceId: z.string().min(1).max(64).describe('Device to sign out.') }),
  output: device,
  async run({ input, caller, ports }) {
    const revoked = await ports.identity.revokeDevice(input.deviceId);
    return { ...revoked, current: revoked.deviceId === caller.deviceId };
  },
});
