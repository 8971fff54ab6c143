import * as z from 'zod';
import { toConfigOption } from '../../_config-option.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { configOption, sessionHint, sessionId } from '../../_shapes.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.config_option.list',
  title: { en: "List a session's settings", 'zh-CN': '列出会话设置项' },
  summary: 'Use to see the settings that an agent offers beside mode and model, such as how long it thinks.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId'],
  hints: { sessionId: sessionHint },
  columns: [{ label: 'id', of: ['configId'] }, 'name', 'value', 'kind', 'description'],
  keywords: {
    en: ['options', 'preferences', 'thinking', 'effort', 'reasoning', 'configuration'],
    'zh-CN': ['设置', '选项', '思考深度', '配置'],
  },
  examples: [{ title: 'One session', input: { sessionId: 'sess_123' } }],
  errors: ['session_not_selected', 'session_not_found', 'session_ambiguous'],
  input: z.object({ sessionId: sessionId.optional() }),
  output: z.object({
    options: z.array(configOption).describe('Settings; empty where the agent offers none.'),
  }),
  async run({ input, ports }) {
    const { configOptions = [] } = await ports.sessions.get(input.sessionId!);
    return { options: configOptions.map(toConfigOption) };
  },
});
