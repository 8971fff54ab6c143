import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { FILE_MESSAGE_MAX, SEND_FILE_TOOL } from '../../src/core/file.ts';
import { sessionHint, sessionId } from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

/** A path is nothing to say aloud. */
const { voice: _, ...surfaces } = EVERYDAY;

export default defineAction({
  id: 'file.send',
  title: { en: 'Send a file to the user', 'zh-CN': '向用户发送文件' },
  summary: 'Use to hand the person a file of the workspace: a report, a picture, a build.',
  description: "Encrypted on its machine for the person's devices alone; the file itself stays.",
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  transient: ['path', 'message', 'fileName', 'mimeType'],
  positionals: ['sessionId', 'path'],
  hints: {
    sessionId: sessionHint,
    path: { label: 'Path' },
    message: { label: 'Message', widget: 'multiline' },
  },
  keywords: {
    en: ['share', 'deliver', 'attach', 'upload', 'download', 'give', 'show', 'document', 'artifact'],
    'zh-CN': ['发送文件', '分享文件', '交付', '附件', '下载'],
  },
  examples: [
    {
      title: 'Hand over a report',
      input: { sessionId: 'sess_123', path: 'report.md', message: 'The numbers' },
    },
  ],
  aliases: [
    {
      name: SEND_FILE_TOOL,
      tool: true,
      directOn: ['agent'],
      omit: ['sessionId'],
      summary: 'Use to hand the user a file of the workspace: a report, a picture, a build.',
    },
  ],
  errors: [
    'invalid_input',
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'session_directory_unavailable',
    'access_denied',
    'file_not_found',
    'file_read_error',
    'is_directory',
    'not_a_file',
    'file_too_large',
    'approval_stale',
    'machine_offline',
    'daemon_not_running',
    'daemon_too_old',
    'unsupported',
    'conflict',
    'storage_full',
  ],
  input: z.object({
    sessionId: sessionId.optional(),
    path: z
      .string()
      .max(4096)
      .regex(/[^\s]/, 'must name a file')
      .describe("File, relative to the session's directory."),
    message: z.string().max(FILE_MESSAGE_MAX).optional().describe('What to say with it.'),
  }),
  output: z.object({
    fileId: z.string().describe('Its id.'),
    path: z.string().describe('Where it lies.'),
    fileName: z.string().describe('Its name.'),
    sizeBytes: z.int().describe('Bytes sent.'),
    mimeType: z.string().describe('Its type.'),
    message: z.string().optional().describe('Your message.'),
  }),
  precondition: ({ input, caller, ports }) =>
    ports.files.look({ sessionId: input.sessionId!, path: input.path }, caller),
  run: ({ input, caller, ports, reviewed }) =>
    ports.files.send(
      {
        sessionId: input.sessionId!,
        path: input.path,
        message: input.message || undefined,
        reviewed: reviewed as Awaited<ReturnType<typeof ports.files.look>> | undefined,
      },
      caller,
    ),
});
