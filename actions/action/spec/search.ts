import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { exposure } from '../../_governance.ts';
import { DISCOVERY } from '../../_surfaces.ts';

export default defineAction({
  id: 'action.spec.search',
  title: { en: 'Search actions', 'zh-CN': '搜索操作' },
  summary: 'Use to find the action for what you want to do, in your own words, in English or Chinese.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: DISCOVERY,
  approvals: 'never',
  session: 'none',
  anySession: true,
  positionals: ['query'],
  columns: ['id', 'effect', 'title', { label: 'for', of: ['blocked', 'summary'], whole: true }],
  keywords: {
    en: ['find tool', 'discover', 'what can I do', 'catalog', 'capabilities', 'help', 'list actions'],
    'zh-CN': ['搜索操作', '查找工具', '能做什么', '功能'],
  },
  examples: [{ title: 'By meaning', input: { query: 'rename a chat' } }],
  errors: [],
  commands: ['action search'],
  input: z.object({
    query: z.string().trim().min(1).max(400).describe('What you want to do, in words, or part of an id.'),
    effect: z.enum(['read', 'write', 'destructive']).optional().describe('Only actions with this effect.'),
    limit: z.int().min(1).max(50).default(10).describe('Most rows, 1 to 50. Default 10.'),
  }),
  output: z.object({
    actions: z
      .array(
        z.object({
          id: z.string().describe('Action id.'),
          title: z.string().describe('Name for people.'),
          summary: z.string().describe('When to use it.'),
          effect: z.string().describe('read, write or destructive.'),
          exposure,
          toolName: z.string().optional().describe('Name of its own tool here, if it has one.'),
          score: z.number().describe('Higher is nearer.'),
          blocked: z.string().optional().describe('Why it cannot be called here now.'),
        }),
      )
      .describe('Matches, best first.'),
  }),
  async run({ input: { query, ...filter }, caller, ports }) {
    return { actions: await ports.discovery.search(query, filter, caller) };
  },
});
