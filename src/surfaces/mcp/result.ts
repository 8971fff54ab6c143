import type { Envelope } from '../../core/call.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import { isRecord } from './messages.ts';
import { isManagedName } from './tool-check.ts';

/** Result of a call, as a host gets it. */
export interface ToolResult {
  content: Record<string, unknown>[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  [key: string]: unknown;
}

/**
 * An approval is an answer, not a failure. The text is the whole structured content: some hosts show only the one. What a tool of
 * a managed server answered is passed on as that server gave it.
 * @param name as it was called: what our own tools answer is structured, whatever they pass on, since they are listed so
 */
export function toToolResult(envelope: Envelope, name: string): ToolResult {
  if (envelope.status === 'ok') {
    const { output } = envelope;
    if (!isServerResult(output)) return toResult(output);
    const structured = isManagedName(name) ? output.structuredContent : output;
    return {
      content: output.content.map(toVisibleItem),
      ...(structured === undefined ? {} : { structuredContent: structured }),
    };
  }
  if (envelope.status === 'approval_required') return toResult({ ...envelope.approval });
  return { ...toResult({ error: envelope.error }), isError: true };
}

const toResult = (structuredContent: Record<string, unknown>): ToolResult => ({
  content: [{ type: 'text', text: toVisibleJson(structuredContent) }],
  structuredContent,
});

/** Output of a managed tool. No action of ours answers a list of content, which a test of the catalog makes sure of. */
function isServerResult(
  output: Record<string, unknown>,
): output is { content: Record<string, unknown>[]; structuredContent?: Record<string, unknown> } {
  const { content, structuredContent, ...rest } = output;
  return (
    Array.isArray(content) &&
    content.every((item) => isRecord(item) && typeof item.type === 'string') &&
    (structuredContent === undefined || isRecord(structuredContent)) &&
    Object.keys(rest).length === 0
  );
}

/** Fields of a content item that people and models read. */
const WORDS = new Set(['text', 'name', 'title', 'description', 'uri']);

/** Bytes of pictures and sounds are left as they are; what is read stands in visible characters. */
export function toVisibleItem(item: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(item).map(([key, value]) => {
    if (typeof value === 'string' && WORDS.has(key)) return [key, toVisibleText(value)];
    return [key, key === 'resource' && isRecord(value) ? toVisibleItem(value) : value];
  });
  return Object.fromEntries(fields) as Record<string, unknown>;
}

const TAG_CHARACTERS = /[\u{e0000}-\u{e0fff}]/gu;

/** JSON of the same value in which what is invisible or moves the cursor stands as an escape. */
const toVisibleJson = (value: unknown): string => toVisibleJsonText(JSON.stringify(value));

export function toVisibleJsonText(text: string): string {
  const json = text.replace(TAG_CHARACTERS, toSurrogateEscapes);
  // Between the quotes of JSON the escapes of a visible text mean the very characters that they replace.
  return toVisibleText(json);
}

const toSurrogateEscapes = (char: string): string =>
  Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16)}`).join('');
