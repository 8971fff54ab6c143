import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { device } from '../_governance.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'device.list',
  title: { en: 'List devices', 'zh-CN': '列出设备' },
  summary: 'Use to see which devices are signed in to the account.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  columns: [
    { label: 'id', of: ['deviceId'] },
    'name',
    { label: 'signed in', of: ['createdAt'] },
    { label: 'last used', of: ['lastUsedAt'] },
    { label: 'revoked', of: ['revokedAt'] },
    { label: 'this one', of: ['current'] },
  ],
  keywords: { en: ['signed in', 'logins', 'computers', 'phones'], 'zh-CN': ['设备', '登录'] },
  examples: [{ title: 'All devices', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({ devices: z.array(device).describe('Devices, newest first.') }),
  async run({ caller, ports }) {
    return { devices: await ports.identity.listDevices(caller) };
  },
});
