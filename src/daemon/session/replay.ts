import type { BackendMethods } from '../../core/link.ts';

/** Most characters of a conversation that an agent is told of. */
export const REPLAY_CHARS = 60_000;

const NAMES = { user: 'Person', agent: 'You' };

/** The conversation so far, to be put in front of the next message. Undefined where there was none. */
export function toReplay({
  lines,
  complete,
}: BackendMethods['transcript.tail']['result']): string | undefined {
  if (lines.length === 0) return undefined;
  const said = lines.map(({ role, text }) => `${NAMES[role]}: ${text}`).join('\n\n');
  const cut = said.length > REPLAY_CHARS;
  return [
    'The conversation so far, from the record, because you could not load it. It is for you to know; do not answer it again.',
    '<conversation>',
    ...(complete && !cut ? [] : ['[its beginning is left out]']),
    cut ? said.slice(-REPLAY_CHARS) : said,
    '</conversation>',
    'The message that you are to answer now:',
    '',
  ].join('\n');
}
