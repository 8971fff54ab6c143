import type { WebResult } from '../../core/ports/web.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import type { RawResults } from './adapter.ts';

const MAX_TITLE = 200;
const MAX_SNIPPET = 1000;
const MAX_URL = 2000;
const MAX_ANSWER = 20_000;
const MAX_CITATIONS = 50;

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#x27': "'",
  nbsp: ' ',
};

const withoutTags = (text: string): string => text.replaceAll(/<[a-z/!?][^<>]{0,2000}>/gi, ' ');

/** Text of a page as one line: no tags, also none that were written as entities, nothing invisible. */
function toLine(text: string | null | undefined, limit: number): string {
  const decoded = withoutTags((text ?? '').slice(0, 10 * limit)).replaceAll(
    /&(amp|lt|gt|quot|#39|#x27|nbsp);/gi,
    (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole,
  );
  const line = withoutTags(decoded).replaceAll(/\s+/g, ' ').trim();
  return toVisibleText(line, { singleLine: true }).slice(0, limit);
}

/** Undefined where it is no plain link: another scheme, credentials in it, too long. */
function toLink(text: string | null | undefined): string | undefined {
  if (text == null || text.length > MAX_URL || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isPlain && url.href.length <= MAX_URL ? url.href : undefined;
}

/** What is left of rows of strangers: at most `count`, each link once. */
export function toResults(rows: RawResults, count: number): WebResult[] {
  const byUrl = new Map<string, WebResult>();
  for (const { title, url, snippet } of rows) {
    if (byUrl.size >= count) break;
    const link = toLink(url);
    if (link === undefined || byUrl.has(link)) continue;
    byUrl.set(link, {
      title: toLine(title, MAX_TITLE) || link.slice(0, MAX_TITLE),
      url: link,
      snippet: toLine(snippet, MAX_SNIPPET),
    });
  }
  return [...byUrl.values()];
}

export const toCitations = (rows: RawResults): { title: string; url: string }[] =>
  toResults(rows, MAX_CITATIONS).map(({ title, url }) => ({ title, url }));

/** An answer keeps its lines: models write lists. */
export const toAnswerText = (text: string): string =>
  toVisibleText(withoutTags(text.slice(0, MAX_ANSWER)).trim()).slice(0, MAX_ANSWER);
