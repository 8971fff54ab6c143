import type { ActionManifest } from '../../../../src/core/spec.ts';
import { HOST_METHODS, toToolName } from '../../../../src/core/spec.ts';

/** An action as data, with what a test says of it and plain values for the rest. */
export function toManifest(id: string, part: Partial<ActionManifest> = {}): ActionManifest {
  return {
    id,
    title: { en: `Title of ${id}`, 'zh-CN': id },
    summary: `Does ${id}.`,
    effect: 'read',
    idempotent: true,
    openWorld: false,
    surfaces: { mcp: { exposure: 'direct' } },
    approvals: 'default',
    session: 'none',
    keywords: { en: [], 'zh-CN': [] },
    examples: [],
    errors: [],
    toolName: toToolName(id),
    inputSchema: { type: 'object', properties: { text: { type: 'string', description: 'Any text.' } } },
    outputSchema: { type: 'object', properties: {} },
    ...part,
  };
}

/** A small catalog in the shapes of the real one. */
export const MANIFESTS: ActionManifest[] = [
  toManifest('action.execute', { effect: 'destructive', idempotent: false, openWorld: true }),
  toManifest('action.spec.search'),
  toManifest('approval.request.decide', {
    surfaces: { mcp: { exposure: 'discoverable', exposureLocked: true } },
    approvals: 'never',
  }),
  toManifest('session.list', {
    outputSchema: {
      type: 'object',
      properties: { sessions: { type: 'array', items: { type: 'object', properties: {} } } },
      required: ['sessions'],
    },
  }),
  toManifest('session.message.send', {
    effect: 'write',
    idempotent: false,
    openWorld: true,
    inputSchema: {
      type: 'object',
      properties: { message: { type: 'string', description: 'The message.' } },
      required: ['message'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        status: { type: 'string', enum: ['queued', 'completed'], description: 'How far it is.' },
      },
      required: ['status'],
    },
  }),
  toManifest('session.title.set', {
    effect: 'write',
    aliases: [
      { name: 'change_title', tool: true, omit: ['sessionId'], summary: 'Renames the default session.' },
      { name: 'rename_session' },
    ],
    inputSchema: {
      type: 'object',
      properties: {
        sessionId: { type: 'string', description: 'The session.' },
        title: { type: 'string', description: 'The new title.' },
      },
      required: ['title'],
    },
  }),
  ...HOST_METHODS.map((answers) =>
    toManifest(`host.${answers.replaceAll('/', '.')}`, {
      answers,
      surfaces: { mcp: { exposure: 'discoverable' } },
    }),
  ),
  toManifest('shell.only', { surfaces: { cli: { exposure: 'direct' } } }),
];

/** How many tools a list of these has: the direct ones, and an alias. */
export const TOOL_COUNT = 6;
