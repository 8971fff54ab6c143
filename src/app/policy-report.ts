import { SELF_DECISION_RULE } from '../core/approval-errors.ts';
import { nearest } from '../core/nearest.ts';
import type { PolicyDifference } from '../core/policy-diff.ts';
import type { Preview, Replayed } from '../core/ports/previews.ts';
import { toVisibleText } from '../core/visible-text.ts';
import type { Paint } from '../surfaces/cli/paint.ts';

/** What a person reads before a policy is put in force. Names may be a stranger's. */

export function toDiffText(changes: readonly PolicyDifference[], paint: Pick<Paint, 'bold'>): string {
  return changes
    .map((change, i) => {
      const { rule } = change;
      const line = `  ${toLine(change)}`;
      if (i > 0 && changes[i - 1]?.rule === rule) return line;
      return `${paint.bold(rule === undefined ? 'settings' : visible(rule))}\n${line}`;
    })
    .join('\n');
}

function toLine({ surface, field, before, after }: PolicyDifference): string {
  const sign = before === undefined ? '+' : after === undefined ? '-' : '~';
  const values = [before, after]
    .filter((value) => value !== undefined)
    .map((value) => visible(typeof value === 'string' ? value : JSON.stringify(value)));
  return `${sign} ${surface === undefined ? '' : `${visible(surface).padEnd(5)}  `}${visible(field).padEnd(8)}  ${values.join(' -> ')}`;
}

const KINDS: ['newlyRefused' | 'newlyAsking' | 'newlyUnattended', string, string][] = [
  ['newlyRefused', 'newly refused', 'refused'],
  ['newlyAsking', 'newly asking', 'asks'],
  ['newlyUnattended', 'newly run unattended', 'unattended'],
];

export function toReplayText(preview: Preview, days: number): string {
  const { calls, complete } = preview;
  const span = `the last ${days === 1 ? 'day' : `${days} days`}`;
  if (calls === 0) return `There is no call of ${span} to replay.`;
  const which = complete
    ? `the ${countOf(calls, 'call')} of ${span}`
    : `the newest ${countOf(calls, 'call')} of ${span}`;
  const sums = KINDS.map(([kind, words]) => `${words} ${preview[kind].count}`).join(', ');
  const examples = KINDS.flatMap(([kind, , word]) => toExamples(preview[kind], word));
  return [`Replayed on ${which}: ${sums}.`, ...examples].join('\n');
}

function toExamples({ count, examples }: Replayed, word: string): string[] {
  const lines = examples.map(
    ({ at, actionId, surface, client }) =>
      `  ${word.padEnd(10)}  ${at}  ${visible(actionId)} on ${visible(surface)} by ${visible(client)}`,
  );
  const more = count - examples.length;
  return more > 0 ? [...lines, `  ${word.padEnd(10)}  and ${countOf(more, 'earlier call')}`] : lines;
}

/** Rules that speak of no action: a misspelt one gates nothing. */
export function toNotes(changes: readonly PolicyDifference[], actionIds: readonly string[]): string[] {
  const families = actionIds.flatMap((id) =>
    [...id.matchAll(/\./g)].map(({ index }) => `${id.slice(0, index)}.*`),
  );
  const known = [...new Set([...actionIds, ...families, SELF_DECISION_RULE])];
  const rules = new Set(changes.flatMap(({ rule, after }) => (after === undefined ? [] : (rule ?? []))));
  return [...rules]
    .filter((rule) => !known.includes(rule))
    .map((rule) => {
      const [like] = nearest(rule, known, 1);
      return `No action or family is called "${visible(rule)}", so this rule changes nothing. The nearest is ${like}.`;
    });
}

export const countOf = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

const visible = (text: string): string => toVisibleText(text, { singleLine: true });
