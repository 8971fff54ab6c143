import MiniSearch from 'minisearch';
import type { ActionManifest } from './spec.ts';

export interface SearchHit {
  id: string;
  /** Higher is better; comparable only within one answer. */
  score: number;
}

/** Finds actions by words of meaning: stems, prefixes, typos, any spelling of an id, declared synonyms, Chinese. */
export interface ActionSearch {
  search(query: string): SearchHit[];
}

/** Han runs have no spaces: each character and each pair of neighbours is a word. */
function hanWords(run: string): string[] {
  const chars = [...run];
  return [...chars, ...chars.slice(1).map((char, i) => chars[i]! + char)];
}

/** Words that say nothing about what an action does. */
const STOP = new Set(
  'a an the of to in on for with and or is are be it its my me i you do how can what which this that from by at as 的 了 吗 我 请 把 给'.split(
    ' ',
  ),
);

/** Words of a text: snake, dotted, kebab and camel forms fall apart, plurals and verb endings are cut. */
export function toWords(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .flatMap((word) => word.match(/\p{Script=Han}+|[^\p{Script=Han}]+/gu) ?? [])
    .flatMap((word) => (/\p{Script=Han}/u.test(word) ? hanWords(word) : [stem(word)]))
    .filter((word) => word !== '' && !STOP.has(word));
}

/** A light English stemmer: enough for the catalog's own vocabulary, applied alike to both sides. */
function stem(word: string): string {
  if (word.length <= 4)
    return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
  const cut = word
    .replace(/(ations?|ating|ated)$/, 'ate')
    .replace(/ies$/, 'y')
    .replace(/(sses|xes|ches|shes)$/, (end) => end.slice(0, -2))
    .replace(/([^s])s$/, '$1')
    .replace(/(ing|ed)$/, '');
  const undoubled = cut.replace(/([bdgmnprt])\1$/, '$1');
  return undoubled.length >= 3 ? undoubled.replace(/e$/, '') : word;
}

/** Asked for by its very name: first, whatever else shares its words. */
const NAMED_BOOST = 10;

const FIELDS = ['id', 'title', 'keywords', 'summary', 'description'] as const;

export function createActionSearch(manifests: readonly ActionManifest[]): ActionSearch {
  const index = new MiniSearch<Record<(typeof FIELDS)[number], string>>({
    fields: [...FIELDS],
    idField: 'id',
    tokenize: toWords,
    processTerm: (term) => term,
    searchOptions: {
      boost: { id: 3, title: 3, keywords: 2.5, summary: 1.2, description: 0.5 },
      prefix: (term) => term.length >= 3,
      fuzzy: (term) => (/\p{Script=Han}/u.test(term) || term.length < 4 ? false : 0.25),
      weights: { prefix: 0.4, fuzzy: 0.25 },
      combineWith: 'OR',
    },
  });
  index.addAll(
    manifests.map((manifest) => ({
      id: manifest.id,
      title: `${manifest.title.en} ${manifest.title['zh-CN']}`,
      keywords: [
        ...manifest.keywords.en,
        ...manifest.keywords['zh-CN'],
        ...(manifest.aliases ?? []).map((a) => a.name),
      ].join(' '),
      summary: manifest.summary,
      description: manifest.description ?? '',
    })),
  );
  const exact = new Map<string, string>();
  for (const { id, title, aliases = [], managed } of manifests) {
    for (const name of [id, title.en, title['zh-CN'], ...aliases.map((alias) => alias.name)]) {
      const words = toWords(name).join(' ');
      // A stranger's tool comes first under no name of ours.
      if (managed === undefined || !exact.has(words)) exact.set(words, id);
    }
  }
  return {
    search(query) {
      const named = exact.get(toWords(query.slice(0, 400)).join(' '));
      return index
        .search(query.slice(0, 400))
        .map(({ id, score }) => ({
          id: String(id),
          score: Math.round(score * 100 * (id === named ? NAMED_BOOST : 1)) / 100,
        }))
        .sort((a, b) => b.score - a.score);
    },
  };
}
