import type { AnyMessage } from '@agentclientprotocol/sdk';

/** How many opening braces of one line are tried: a long line of noise must not cost a parse for each. */
const MAX_TRIES = 16;

/**
 * Reads one line of an agent's output. Shells and libraries print banners and terminal sequences there, sometimes
 * glued to the front of a message: whatever stands before the message is noise and not a reason to fail.
 */
export function toFrame(line: string): { noise: string; message?: AnyMessage } {
  let tries = 0;
  for (let at = line.indexOf('{'); at >= 0 && tries < MAX_TRIES; at = line.indexOf('{', at + 1), tries += 1) {
    const message = parse(line.slice(at));
    if (message !== undefined) return { noise: line.slice(0, at).trim(), message };
  }
  return { noise: line.trim() };
}

function parse(text: string): AnyMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isMessage =
      typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
    return isMessage ? (value as AnyMessage) : undefined;
  } catch {
    return undefined;
  }
}
