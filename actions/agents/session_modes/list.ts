import * as z from 'zod';
import { PERMISSION_MODE_MEANINGS } from '../../../src/core/session.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { ofAgentOrSession, ofAgentOrSessionHints, permissionMode } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'agents.session_modes.list',
  title: { en: 'List permission modes', 'zh-CN': '列出权限模式' },
  summary: 'Use to see which permission modes an agent or a session offers.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  hints: ofAgentOrSessionHints,
  columns: ['id', 'name'],
  keywords: {
    en: ['permissions', 'plan', 'read only', 'bypass', 'accept edits', 'modes'],
    'zh-CN': ['权限模式', '模式', '可用模式'],
  },
  examples: [{ title: 'Modes of an agent', input: { agentId: 'demo' } }],
  errors: [
    'machine_not_found',
    'machine_offline',
    'daemon_not_running',
    'agent_not_available',
    'invalid_input',
    'session_not_found',
    'session_ambiguous',
  ],
  input: z.object(ofAgentOrSession),
  output: z.object({
    modes: z
      .array(z.object({ id: permissionMode, name: z.string().describe('What the mode means.') }))
      .describe('Modes that the agent offers.'),
    currentMode: permissionMode.optional(),
  }),
  async run({ input, caller, ports }) {
    const { modes, currentMode } = await ports.agents.modes(input, caller);
    return { modes: modes.map((id) => ({ id, name: PERMISSION_MODE_MEANINGS[id] })), currentMode };
  },
});
