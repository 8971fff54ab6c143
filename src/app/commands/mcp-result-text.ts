import { toVisibleText } from '../../core/visible-text.ts';

/** A result of a managed tool for a person: its texts as they are, and of everything else what it is. */
export function toResultText(output: Record<string, unknown>): string {
  const { content, structuredContent } = output as Partial<Result>;
  const parts = Array.isArray(content) ? content.map(toText) : [];
  if (parts.length > 0) return parts.join('\n').trimEnd();
  return toVisibleText(JSON.stringify(structuredContent ?? output, undefined, 2));
}

interface Result {
  content: Content[];
  structuredContent: object;
}

/** What a server says of a part of its answer: any of it may be missing. */
interface Content {
  type?: unknown;
  text?: unknown;
  data?: unknown;
  mimeType?: unknown;
  uri?: unknown;
  resource?: Content;
}

function toText(part: Content): string {
  if (typeof part.text === 'string') return toVisibleText(part.text);
  if (typeof part.resource?.text === 'string') return toVisibleText(part.resource.text);
  const { type, mimeType, data, uri } = { ...part, ...part.resource };
  const size = typeof data === 'string' ? `${data.length} characters of base64` : undefined;
  const told = [type, mimeType, uri, size].filter((one) => typeof one === 'string');
  return `[${toVisibleText(told.join(', ') || 'part of an unknown kind', { singleLine: true })}; whole with --json]`;
}
