import * as z from 'zod';
import { toConfigOption } from '../../_config-option.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { configOption, sessionBrief, sessionHint, sessionId } from '../../_shapes.ts';
import { GOVERNANCE, SUPERVISION } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.config_option.set',
  title: { en: "Change a session's setting", 'zh-CN': '更改会话设置项' },
  summary: 'Use to change a setting that an agent offers beside mode and model, from its next step on.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: { ...GOVERNANCE, voice: SUPERVISION.voice },
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId', 'configId', 'value'],
  hints: {
    sessionId: sessionHint,
    configId: {
      label: 'Setting',
      widget: 'select',
      options: {
        action: 'session.config_option.list',
        input: { sessionId: '$sessionId' },
        items: 'options',
        value: 'configId',
        label: 'name',
      },
    },
  },
  keywords: {
    en: ['options', 'preferences', 'thinking', 'effort', 'reasoning', 'configure'],
    'zh-CN': ['设置', '选项', '思考深度', '配置'],
  },
  examples: [{ title: 'Think longer', input: { sessionId: 'sess_123', configId: 'effort', value: 'high' } }],
  errors: [
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'session_archived',
    'invalid_input',
    'machine_offline',
    'daemon_not_running',
    'agent_failed',
    'permission_escalation_denied',
    'unsupported',
  ],
  input: z.object({
    sessionId: sessionId.optional(),
    configId: z.string().min(1).max(500).describe('Setting, as session.config_option.list names it.'),
    value: z.string().max(500).describe('Id of one of its options; true or false for one that is on or off.'),
  }),
  output: sessionBrief.extend({
    options: z.array(configOption).describe('All settings, as they are now.'),
  }),
  async run({ input, caller, ports }) {
    const { configOptions = [], ...session } = await ports.control.setConfigOption(
      input.sessionId!,
      input.configId,
      input.value,
      caller,
    );
    return { ...session, options: configOptions.map(toConfigOption) };
  },
});
