import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { ofAgentOrSession, ofAgentOrSessionHints } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'agents.models.list',
  title: { en: 'List models', 'zh-CN': '列出模型' },
  summary: 'Use to see which models an agent or a session can use.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  hints: ofAgentOrSessionHints,
  columns: ['id', 'name'],
  keywords: {
    en: ['llm', 'which models', 'choices', 'opus', 'gpt'],
    'zh-CN': ['模型', '可用模型', '大模型'],
  },
  examples: [{ title: 'Models of an agent', input: { agentId: 'demo' } }],
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
    models: z
      .array(
        z.object({ id: z.string().describe('Model id.'), name: z.string().describe('Name for people.') }),
      )
      .describe('Models; empty where the agent tells none before a session has started.'),
    currentModelId: z.string().optional().describe('Model of the session.'),
  }),
  run: ({ input, caller, ports }) => ports.agents.models(input, caller),
});
