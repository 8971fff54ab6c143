import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'audit.verify',
  title: { en: 'Verify the audit log', 'zh-CN': '校验审计日志' },
  summary: 'Use to prove that no row of the audit log was altered or removed.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  keywords: {
    en: ['tamper', 'integrity', 'hash chain', 'proof', 'check'],
    'zh-CN': ['校验', '完整性', '防篡改'],
  },
  examples: [{ title: 'The whole log', input: {} }],
  errors: ['invalid_input'],
  input: z.object({
    head: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')
      .optional()
      .describe('Digest that an earlier check gave: it must still be in the log.'),
  }),
  output: z.object({
    intact: z.boolean().describe('Whether every row is as it was written.'),
    rows: z.int().describe('Rows that were checked.'),
    head: z
      .string()
      .describe('Digest of the newest row. Keep it elsewhere to prove later that nothing was cut off.'),
    fault: z
      .object({
        auditId: z.int().describe('First row at fault.'),
        reason: z.string().describe('What is wrong.'),
      })
      .optional()
      .describe('The first fault, if any.'),
  }),
  async run({ input, ports }) {
    const verdict = await ports.audit.verify(input.head);
    return { intact: verdict.fault === undefined, ...verdict };
  },
});
