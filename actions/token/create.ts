import * as z from 'zod';
import { invalidInput } from '../../src/core/input.ts';
import type { Surface } from '../../src/core/spec.ts';
import { defineAction } from '../../src/core/spec.ts';
import { surface, token } from '../_governance.ts';
import { GOVERNANCE } from '../_surfaces.ts';

const DEFAULT_SURFACES: Surface[] = ['mcp', 'cli'];
const VOICE: Surface[] = ['voice'];

export default defineAction({
  id: 'token.create',
  title: { en: 'Create an API token', 'zh-CN': '创建 API 令牌' },
  summary: 'Use to give a program a token of its own, limited to surfaces, actions or a session. Shown once.',
  effect: 'write',
  idempotent: false,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: { need: 'optional', field: 'sessionId' },
  positionals: ['name'],
  keywords: {
    en: ['api key', 'credential', 'access token', 'automation', 'bot'],
    'zh-CN': ['令牌', '密钥', '访问令牌'],
  },
  examples: [
    {
      title: 'Reads for a dashboard',
      input: { name: 'dashboard', actions: ['session.list'], expiresInDays: 30 },
    },
    { title: 'A voice bridge in the kitchen', input: { name: 'kitchen', kind: 'voice' } },
  ],
  errors: ['invalid_input', 'session_not_found', 'session_ambiguous'],
  input: z.object({
    name: z.string().trim().min(1).max(100).describe('What it is for.'),
    kind: z
      .enum(['api', 'voice'])
      .default('api')
      .describe('api, or voice: for a bridge to a voice model; it speaks for surface voice and no other.'),
    surfaces: z.array(surface).optional().describe('Surfaces that it may speak for. Default: mcp and cli.'),
    actions: z
      .array(z.string().max(120))
      .optional()
      .describe('Action ids or families (session.*) that it may call. Default: all.'),
    sessionId: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('The one session that it is good for. Default: all.'),
    expiresInDays: z
      .int()
      .min(1)
      .max(3650)
      .optional()
      .describe('Days until it ends, 1 to 3650. Default: never.'),
  }),
  output: z.object({
    ...token.shape,
    token: z.string().describe('The secret. It is not stored and not shown again.'),
  }),
  async run({ input: { surfaces, actions, sessionId, ...rest }, caller, ports }) {
    const voiceOnly = rest.kind === 'voice';
    if (voiceOnly && surfaces?.some((each) => each !== 'voice')) {
      const message = 'must be voice alone, or left out, for a token of kind voice';
      throw invalidInput('token.create', [{ path: 'surfaces', message, received: JSON.stringify(surfaces) }]);
    }
    const scope = { surfaces: voiceOnly ? VOICE : (surfaces ?? DEFAULT_SURFACES), actions, sessionId };
    return ports.identity.createToken({ ...rest, scope }, caller);
  },
});
