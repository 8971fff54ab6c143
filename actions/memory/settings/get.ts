import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { settings } from '../../_memory.ts';
import { INSIGHT } from '../../_surfaces.ts';

export default defineAction({
  id: 'memory.settings.get',
  title: { en: 'See the settings of memory', 'zh-CN': '查看记忆设置' },
  summary: 'Use to see whether memory is on, what it remembers by itself, and which models it uses.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  keywords: { en: ['memory', 'configuration', 'status', 'off'], 'zh-CN': ['记忆', '设置', '状态'] },
  examples: [{ title: 'Now', input: {} }],
  errors: [],
  input: z.object({}),
  output: settings,
  run: ({ ports }) => ports.memory.settings(),
});
