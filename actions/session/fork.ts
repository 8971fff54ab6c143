import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { session, sessionBrief, sessionHint, sessionId, sessionTitle } from '../_shapes.ts';
import { RELATED } from '../_surfaces.ts';

export default defineAction({
  id: 'session.fork',
  title: { en: 'Fork a session', 'zh-CN': '分叉会话' },
  summary: 'Use to go on with a conversation in a second session, and leave the first as it is.',
  description:
    'Same agent, machine, directory, mode and model. Only for agents that can (agents.backends.list: fork).',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: RELATED,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId'],
  hints: { sessionId: sessionHint },
  keywords: {
    en: ['branch', 'copy', 'duplicate', 'clone', 'split', 'try another way', 'what if'],
    'zh-CN': ['分叉', '复制会话', '分支', '另一种做法'],
  },
  examples: [{ title: 'Try another way', input: { sessionId: 'sess_123', title: 'The other way' } }],
  errors: [
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'session_archived',
    'session_too_deep',
    'machine_offline',
    'daemon_not_running',
    'agent_failed',
    'agent_not_available',
    'agent_needs_setup',
    'session_directory_unavailable',
    'permission_escalation_denied',
    'timeout',
    'unsupported',
    'rate_limited',
  ],
  input: z.object({
    sessionId: sessionId.optional(),
    title: sessionTitle.optional().describe('Title of the new session.'),
  }),
  output: z.object({
    ...sessionBrief.shape,
    agentId: session.shape.agentId,
    machineId: session.shape.machineId,
    directory: session.shape.directory,
    parentSessionId: session.shape.parentSessionId,
    forkedFrom: session.shape.forkedFrom,
  }),
  run: ({ input: { sessionId, title }, caller, ports, signal }) =>
    ports.control.fork(sessionId!, title === undefined ? {} : { title }, caller, signal),
});
