import { createSignal } from 'solid-js';
import type { CatalogAnswer, CatalogEntry } from '../../core/feed.ts';
import { whenSeen } from '../browser/host.ts';
import { ask } from '../browser/http.ts';
import { lang } from '../i18n/index.ts';
import { onNews } from './feed.ts';

/** Milliseconds in which further changes are taken together. */
const TOGETHER_MS = 500;

const [catalog, setCatalog] = createSignal<Map<string, CatalogEntry>>(new Map());
let asked = false;
let timer: ReturnType<typeof setTimeout> | undefined;

const seen = whenSeen(() => {
  clearTimeout(timer);
  timer = setTimeout(() => void read(), TOGETHER_MS);
});

onNews(({ type }) => {
  if (asked && (type === 'catalog.changed' || type === 'gap')) seen.ask();
});

/** Reads the catalog in the background: pages show ids until it is there. From then on it is kept up to date. */
function ensure(): void {
  if (asked) return;
  asked = true;
  void read();
}

async function read(): Promise<void> {
  const answer = await ask('GET', '/v1/catalog?surface=app');
  if (answer?.status !== 200) {
    asked = false;
    return;
  }
  const { actions } = answer.body as CatalogAnswer;
  setCatalog(new Map(actions.map((action) => [action.id, action])));
}

export function catalogEntries(): CatalogEntry[] {
  ensure();
  return [...catalog().values()];
}

export function catalogEntry(id: string): CatalogEntry | undefined {
  ensure();
  return catalog().get(id);
}

/** Title of an action in the language of the page. */
export const titleOf = (id: string): string => catalogEntry(id)?.title[lang()] ?? id;
