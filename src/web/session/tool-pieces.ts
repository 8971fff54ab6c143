export type ToolPiece = { diff: { path: string; before: string; after: string } } | { text: string };

const words = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What an agent says that a step changed or put out. Nothing of its shape is taken for granted: a bad piece is left out. */
export function toPieces(content: unknown): ToolPiece[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((found: unknown): ToolPiece[] => {
    const { type, path, oldText, newText, content: inner } = (found ?? {}) as Record<string, unknown>;
    if (type === 'diff')
      return [{ diff: { path: words(path), before: words(oldText), after: words(newText) } }];
    const { text } = (inner ?? {}) as { text?: unknown };
    return typeof text === 'string' ? [{ text }] : [];
  });
}
