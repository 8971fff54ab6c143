import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { EVENTS, readResource } from '../_resources.ts';
import { RELATED } from '../_surfaces.ts';

export default defineAction({
  id: 'resource.read',
  title: { en: 'Read a resource', 'zh-CN': '读取资源' },
  summary: 'Use to read what stands at a kaiwu:// address.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  answers: 'resources/read',
  positionals: ['uri'],
  keywords: { en: ['uri', 'address', 'open', 'prompt', 'text'], 'zh-CN': ['资源', '读取', '地址'] },
  examples: [{ title: 'What Kaiwu is', input: { uri: 'kaiwu://prompts/identity' } }],
  errors: ['invalid_input', 'not_found', 'action_disabled', 'session_not_found', 'session_ambiguous'],
  input: z.object({ uri: z.string().trim().min(1).max(2000).describe('Address, as the list gives it.') }),
  output: z.object({
    uri: z.string().describe('Address.'),
    mimeType: z.string().describe('Kind of text.'),
    text: z.string().describe('What stands there.'),
    changes: z
      .object({
        event: z.enum(EVENTS).describe('Kind of entry.'),
        sessionId: z.string().describe('Its session.'),
      })
      .optional()
      .describe('Entry of the event stream that tells of a change; absent where none does.'),
  }),
  run: ({ input: { uri }, caller, ports, signal }) => readResource(uri, { caller, ports, signal }),
});
