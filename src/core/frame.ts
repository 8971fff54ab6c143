/** A message of JSON-RPC 2.0, as far as anyone has looked at it. */
export type Frame = { jsonrpc: '2.0' } & Record<string, unknown>;

/** How many opening braces of one line are tried: a long line of noise must not cost a parse for each. */
const MAX_TRIES = 16;

/**
 * Reads one line of a program that speaks JSON-RPC on its stdout. Shells and libraries print banners and terminal sequences
 * there, sometimes glued to the front of a message: whatever stands before the message is noise and not a reason to fail.
 */
export function toFrame(line: string): { noise: string; message?: Frame } {
  let tries = 0;
  for (let at = line.indexOf('{'); at >= 0 && tries < MAX_TRIES; at = line.indexOf('{', at + 1), tries += 1) {
    const message = parse(line.slice(at));
    if (message !== undefined) return { noise: line.slice(0, at).trim(), message };
  }
  return { noise: line.trim() };
}

function parse(text: string): Frame | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFrame(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isFrame = (value: unknown): value is Frame =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
