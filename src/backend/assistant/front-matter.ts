/** A text with a few `key: value` lines before it, between two lines of three hyphens. */
export interface Page {
  head: Record<string, string>;
  body: string;
}

export function readPage(text: string): Page {
  const [, head, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  if (head === undefined) return { head: {}, body: text };
  const pairs = head.split('\n').map((line) => {
    const at = line.indexOf(':');
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  return { head: Object.fromEntries(pairs), body: body! };
}
