import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { policyAnswer } from '../../_governance.ts';
import { DISCOVERY } from '../../_surfaces.ts';

export default defineAction({
  id: 'action.spec.get',
  title: { en: 'Get the spec of an action', 'zh-CN': '查看操作规范' },
  summary:
    'Use before calling an action you do not know: its fields, examples, errors, and what a call would do now.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: DISCOVERY,
  approvals: 'never',
  session: 'none',
  anySession: true,
  positionals: ['actionId'],
  keywords: {
    en: ['schema', 'fields', 'parameters', 'arguments', 'how to call', 'documentation', 'usage'],
    'zh-CN': ['参数', '字段', '用法', '文档', '规范'],
  },
  examples: [{ title: 'One action', input: { actionId: 'session.title.set' } }],
  errors: ['unknown_action'],
  commands: ['action get'],
  input: z.object({ actionId: z.string().min(1).max(120).describe('Action id, tool name or alias.') }),
  output: z.looseObject({
    id: z.string().describe('Action id.'),
    title: z.string().describe('Name for people.'),
    summary: z.string().describe('When to use it.'),
    description: z.string().optional().describe('What else to know.'),
    effect: z.string().describe('read, write or destructive.'),
    inputSchema: z.looseObject({}).describe('JSON Schema of the input.'),
    outputSchema: z.looseObject({}).describe('JSON Schema of the output.'),
    inputHints: z.looseObject({}).describe('Per field: label, widget, where its options come from.'),
    examples: z
      .array(
        z.object({
          title: z.string().describe('What it shows.'),
          input: z.looseObject({}).describe('The input.'),
        }),
      )
      .describe('Inputs that work.'),
    errors: z.array(z.string()).describe('Codes that it can end in.'),
    policy: policyAnswer.describe('What a call would do here now, and which rule says so.'),
  }),
  async run({ input, caller, ports }) {
    const { spec, policy } = await ports.discovery.describe(input.actionId, caller);
    const {
      title,
      hints = {},
      keywords: _,
      surfaces: __,
      secrets: ___,
      forward: ____,
      columns: _____,
      ...rest
    } = spec;
    return { ...rest, title: title.en, inputHints: hints, policy };
  },
});
