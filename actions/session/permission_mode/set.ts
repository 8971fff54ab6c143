import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { permissionMode, sessionBrief, sessionHint, sessionId } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.permission_mode.set',
  title: { en: 'Set the permission mode of a session', 'zh-CN': '设置会话权限模式' },
  summary: "Use to change what a session's agent may do without asking, from its next step on.",
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId', 'permissionMode'],
  hints: {
    sessionId: sessionHint,
    permissionMode: {
      label: 'Permission mode',
      widget: 'select',
      options: {
        action: 'agents.session_modes.list',
        input: { sessionId: '$sessionId' },
        items: 'modes',
        value: 'id',
        label: 'name',
      },
    },
  },
  keywords: {
    en: [
      'permissions',
      'mode',
      'read only',
      'yolo',
      'bypass',
      'accept edits',
      'plan mode',
      'allow edits',
      'autonomy',
    ],
    'zh-CN': ['权限', '权限模式', '只读', '计划模式', '自动批准'],
  },
  examples: [
    { title: 'Read only from now on', input: { sessionId: 'sess_123', permissionMode: 'read_only' } },
  ],
  errors: [
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'session_archived',
    'machine_offline',
    'daemon_not_running',
    'unsupported',
    'agent_failed',
    'permission_escalation_denied',
  ],
  input: z.object({ sessionId: sessionId.optional(), permissionMode }),
  output: sessionBrief,
  run: ({ input, caller, ports }) =>
    ports.control.setPermissionMode(input.sessionId!, input.permissionMode, caller),
});
