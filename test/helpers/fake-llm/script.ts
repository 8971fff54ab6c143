import type { Asked, Entry, Json } from './wire.ts';

/**
 * One step of what the model does. The person's message says it, one step a line:
 * `%say WORDS`, `%think WORDS`, `%call TOOL {JSON}`, `%drip COUNT MS` (words, one every so often) and `%fail STATUS`.
 */
export type Step =
  | { does: 'say' | 'think'; words: string }
  | { does: 'call'; tool: string; args: Json }
  | { does: 'drip'; count: number; everyMs: number }
  | { does: 'fail'; status: number };

/** What the model says where no tools are offered: agents ask that way for titles and summaries. */
export const TITLE = 'Words of a small model';

const LINE = /^\s*%(say|think|call|drip|fail)\b[ \t]*(.*)$/gm;

/** The steps of this one answer. The history tells how far the script has got, so nothing has to be remembered. */
export function nextSteps({ tools, entries }: Pick<Asked, 'tools' | 'entries'>): Step[] {
  if (tools.length === 0) return [say(TITLE)];
  const at = entries.findLastIndex(({ kind, text }) => kind === 'user' && text.match(LINE) !== null);
  if (at < 0) return [say('Nothing to do.')];
  const steps = parse(entries[at]!);
  const results = entries.slice(at + 1).filter(({ kind }) => kind === 'result');
  const rest = afterCalls(steps, results.length);
  if (rest.length === 0) return [say(`Done: ${results.at(-1)?.text.slice(0, 300) ?? ''}`)];
  const stop = rest.findIndex(({ does }) => does === 'call' || does === 'fail');
  return stop < 0 ? rest : rest.slice(0, stop + 1);
}

const say = (words: string): Step => ({ does: 'say', words });

/** What follows the first `count` calls. */
function afterCalls(steps: Step[], count: number): Step[] {
  let left = count;
  let from = 0;
  for (; from < steps.length && left > 0; from += 1) if (steps[from]!.does === 'call') left -= 1;
  return steps.slice(from);
}

const parse = (entry: Entry): Step[] =>
  [...entry.text.matchAll(LINE)].map(([, does, rest = '']) => toStep(does as Step['does'], rest));

function toStep(does: Step['does'], rest: string): Step {
  const [first = '', second = ''] = rest.split(/\s+/, 2);
  switch (does) {
    case 'call':
      return { does, tool: first, args: JSON.parse(rest.slice(first.length) || '{}') as Json };
    case 'drip':
      return { does, count: Number(first), everyMs: Number(second) };
    case 'fail':
      return { does, status: Number(first) };
    default:
      return { does, words: rest };
  }
}
