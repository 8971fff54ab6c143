import * as z from 'zod';
import type { FurtherAction } from '../catalog.ts';
import { KaiwuError } from '../errors.ts';
import { toWords } from '../search.ts';
import type { ActionData, ActionManifest, AnyAction, JsonSchema } from '../spec.ts';
import { toShortText, toVisibleText } from '../visible-text.ts';
import type { ManagedEntry, FurtherActionsOptions } from './further-actions.ts';
import { MANAGED_LIMITS, type ToolCallResult } from './managed.ts';
import { includesSession } from './session-share.ts';
import type { ToolEntry } from './tool-states.ts';

/** Characters of a summary: the first line of what the server says. */
const MAX_SUMMARY = 200;
/** Words that search finds the tool by, beside those of its description. */
const MAX_KEYWORDS = 40;

const OUTPUT = z.object({
  content: z.array(z.looseObject({})).describe('What the server answers, as it gives it.'),
  structuredContent: z.looseObject({}).optional().describe('The same as data, where the server gives it.'),
});

const OUTPUT_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    content: {
      type: 'array',
      items: { type: 'object' },
      description: 'What the server answers, as it gives it.',
    },
    structuredContent: { type: 'object', description: 'The same as data, where the server gives it.' },
  },
  required: ['content'],
};

/** A tool of a managed server as an action, found and refused by the same rules as any other. */
export function toToolAction(
  server: ManagedEntry,
  entry: ToolEntry,
  validatorOf: FurtherActionsOptions['validatorOf'],
): FurtherAction {
  const data = toData(server, entry);
  const { sessions } = server.config;
  const action: AnyAction = {
    ...data,
    input: toInput(entry, validatorOf),
    output: OUTPUT,
    async admit({ caller, sessionId, ports }) {
      if (caller.surface !== 'agent' && caller.scope.sessionId === undefined) return;
      const session = sessionId === undefined ? undefined : await ports.sessions.get(sessionId);
      if (!includesSession({ server: server.name, sessions }, session)) throw notShared(entry, sessionId);
    },
    // A call that was approved is one of the tool as it was then.
    precondition: async () => ({ definition: entry.digest.slice(0, 16) }),
    async run({ input, caller, ports, signal }) {
      const args = input as Record<string, unknown>;
      const result = await ports.managedTools.call(
        { key: server.key, tool: entry.name },
        args,
        caller,
        signal,
      );
      if (result.isError === true) throw toolFailed(entry, result);
      const { content, structuredContent } = result;
      return structuredContent === undefined ? { content } : { content, structuredContent };
    },
  };
  const manifest: ActionManifest = {
    ...data,
    toolName: entry.toolName,
    inputSchema: entry.portable?.schema ?? { type: 'object', properties: {} },
    outputSchema: OUTPUT_SCHEMA,
  };
  return { action, manifest };
}

function toData({ name, config }: ManagedEntry, entry: ToolEntry): ActionData {
  const { actionId, effect, unavailable, definition } = entry;
  const slug = actionId.slice(actionId.lastIndexOf('.') + 1);
  const title = `${name} ${slug}`;
  const destructive = effect === 'destructive' ? { approval: true } : {};
  return {
    id: actionId,
    title: { en: title, 'zh-CN': title },
    ...toTexts(entry, title),
    effect,
    idempotent: effect === 'read',
    openWorld: true,
    surfaces: {
      app: { exposure: 'discoverable' },
      cli: { exposure: 'discoverable' },
      mcp: { exposure: 'discoverable', ...destructive },
      agent: { exposure: config.exposure ?? 'direct', ...destructive },
    },
    approvals: 'default',
    session: 'none',
    anySession: true,
    ...(entry.portable === undefined || entry.portable.clearable.length === 0
      ? {}
      : { clearable: entry.portable.clearable }),
    keywords: toKeywords(entry, name),
    examples: [],
    errors: [
      'invalid_input',
      'mcp_server_not_found',
      'mcp_server_unavailable',
      'mcp_sign_in_needed',
      'tool_failed',
      'payload_too_large',
      'timeout',
      'canceled',
    ],
    openInput: true,
    ...(unavailable === undefined ? {} : { unavailable }),
    managed: {
      server: name,
      tool: definition.name,
      ...(config.sessions === undefined ? {} : { sessions: config.sessions }),
    },
  };
}

/** What a server says of a tool that nobody may call is for people to judge, in its list; models need none of it. */
function toTexts(
  { description, reason }: ToolEntry,
  title: string,
): Pick<ActionData, 'summary' | 'description'> {
  if (reason !== undefined) return { summary: toShortText(`Not available. ${reason}`, MAX_SUMMARY) };
  const line = description.trim().split('\n')[0] ?? '';
  if (line === '')
    return { summary: `The tool ${title} of a managed MCP server, which does not describe it.` };
  return { summary: toShortText(line, MAX_SUMMARY), ...(line === description ? {} : { description }) };
}

function toKeywords(
  { name, definition, description, reason }: ToolEntry,
  server: string,
): ActionData['keywords'] {
  const said = reason === undefined ? `${definition.title ?? ''} ${description}` : '';
  const words = [...new Set(toWords(`${server} ${name.slice(0, 200)} ${said.slice(0, 2000)}`))];
  const isHan = (word: string) => /\p{Script=Han}/u.test(word);
  return {
    en: words.filter((word) => !isHan(word)).slice(0, MAX_KEYWORDS),
    'zh-CN': words.filter(isHan).slice(0, MAX_KEYWORDS),
  };
}

/** Anything goes through that the server's own schema takes; what it does not is told before the server hears of it. */
function toInput(entry: ToolEntry, validatorOf: FurtherActionsOptions['validatorOf']): z.ZodObject {
  return z.looseObject({}).superRefine((args, context) => {
    for (const { path, message } of validatorOf(entry.definition)(args)) {
      context.addIssue({ code: 'custom', path, message });
    }
  });
}

function toolFailed({ server, actionId }: ToolEntry, result: ToolCallResult): KaiwuError {
  const texts = result.content.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  );
  const said = toShortText(toVisibleText(texts.join('\n').trim()), MANAGED_LIMITS.reason);
  return new KaiwuError('tool_failed', said === '' ? `${actionId} failed and did not say why.` : said, {
    hint: `So says the MCP server ${server}; the call reached it.`,
    details: { actionId, server, result },
  });
}

function notShared({ actionId, server }: ToolEntry, sessionId: string | undefined): KaiwuError {
  const remedy = `A person can share the server ${server} with it in Settings > MCP servers.`;
  const whom = sessionId === undefined ? 'a call of no session' : `session ${sessionId}`;
  return new KaiwuError('action_disabled', `${actionId} cannot be called from ${whom}: not_shared.`, {
    hint: remedy,
    details: { actionId, surface: 'agent', reason: 'not_shared', remedy },
  });
}
