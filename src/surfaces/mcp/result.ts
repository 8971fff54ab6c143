import type { Envelope } from '../../core/call.ts';
import { toVisibleText } from '../../core/visible-text.ts';

/** Result of a call, as a host gets it. */
export interface ToolResult {
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: boolean;
  [key: string]: unknown;
}

/** An approval is an answer, not a failure. The text is the whole structured content: some hosts show only the one. */
export function toToolResult(envelope: Envelope): ToolResult {
  if (envelope.status === 'ok') return toResult(envelope.output);
  if (envelope.status === 'approval_required') return toResult({ ...envelope.approval });
  return { ...toResult({ error: envelope.error }), isError: true };
}

const toResult = (structuredContent: Record<string, unknown>): ToolResult => ({
  content: [{ type: 'text', text: toVisibleJson(structuredContent) }],
  structuredContent,
});

const TAG_CHARACTERS = /[\u{e0000}-\u{e0fff}]/gu;

/** JSON of the same value in which what is invisible or moves the cursor stands as an escape. */
function toVisibleJson(value: unknown): string {
  const json = JSON.stringify(value).replace(TAG_CHARACTERS, toSurrogateEscapes);
  // Between the quotes of JSON the escapes of a visible text mean the very characters that they replace.
  return toVisibleText(json);
}

const toSurrogateEscapes = (char: string): string =>
  Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16)}`).join('');
