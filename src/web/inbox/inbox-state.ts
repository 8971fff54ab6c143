import { createSignal, onCleanup } from 'solid-js';
import { createStore, reconcile } from 'solid-js/store';
import { isSettled } from '../../core/approval.ts';
import type { WireError } from '../../core/errors.ts';
import { actions, must, type OutputOf } from '../api/call.ts';
import { type News, onNews } from '../api/feed.ts';
import { createLive, type Live, toWire } from '../api/live.ts';
import { readPages } from '../api/pages.ts';
import { t } from '../i18n/index.ts';
import { announce } from '../ui/announce.ts';

export type InboxItem = OutputOf<typeof actions.inbox.list>['items'][number];
export type ApprovalRow = NonNullable<InboxItem['approval']>;

/** How far an answer that was given here has come. */
export interface Progress {
  /** `sending`: not known to the backend yet. `recorded`: it holds. `done`: nothing more will happen. */
  stage: 'sending' | 'recorded' | 'done';
  /** What was answered, in words, where no approval tells it. */
  answer?: string;
  error?: WireError;
}

interface Loaded {
  items: InboxItem[];
  more: boolean;
}

const PAGE = 100;

/** Milliseconds until a request that still runs is looked at again, should the word of its end have come too early. */
const ASK_AGAIN_MS = 1500;

const [pages, setPages] = createSignal(1);
const [live, setLive] = createSignal<Live<Loaded>>();
/** Cards that are no longer waiting but stay, with their outcome, until they are cleared. */
const [finished, setFinished] = createStore<Record<string, InboxItem>>({});
/** Cards that were put away. What they asked for is over, so they cannot come back; a list on its way may still hold them. */
const cleared = new Set<string>();
const [progress, setProgress] = createStore<Record<string, Progress | undefined>>({});

export { finished, progress };

export const inboxError = () => live()?.error();
export const inboxLoaded = () => live()?.data() !== undefined;
export const hasMore = () => live()?.data()?.more ?? false;
const waiting = (): InboxItem[] => (live()?.data()?.items ?? []).filter(({ itemId }) => !cleared.has(itemId));

/** What waits, and what was decided while this page was open, newest first. */
export function inboxItems(): InboxItem[] {
  const ids = new Set(waiting().map(({ itemId }) => itemId));
  const kept = Object.values(finished).filter(({ itemId }) => !ids.has(itemId));
  return [...waiting(), ...kept].sort((a, b) => (a.at < b.at ? 1 : -1));
}

/** For the title and the navigation; empty where nothing waits. */
export function inboxCount(): string {
  const count = waiting().filter(({ itemId }) => !(itemId in finished)).length;
  return count === 0 ? '' : `${count}${hasMore() ? '+' : ''}`;
}

async function load(before: Loaded | undefined): Promise<Loaded> {
  const { rows: items, more } = await readPages<InboxItem>(pages, (place) =>
    must(actions.inbox.list({ limit: PAGE, ...place })),
  );
  const ids = new Set(items.map(({ itemId }) => itemId));
  for (const item of before?.items ?? []) if (!ids.has(item.itemId)) void settle(item);
  return { items, more };
}

/** A card that left the list: an approval is shown with what became of it, whoever decided. */
async function settle(item: InboxItem): Promise<void> {
  if (item.kind !== 'approval' || cleared.has(item.itemId)) return;
  const outcome = await actions.approval.request.get({ artifactId: item.itemId });
  if (outcome.status !== 'ok') return;
  const { lineage: _, ...approval } = outcome.output;
  if (cleared.has(item.itemId)) return;
  // An answer that was overtaken by a later one says nothing.
  const known = finished[item.itemId]?.approval;
  if (known !== undefined && isSettled(known.status) && !isSettled(approval.status)) return;
  setFinished(item.itemId, reconcile({ ...item, approval }));
  if (!isSettled(approval.status)) setTimeout(() => void settle(item), ASK_AGAIN_MS);
}

/** Most changes of sessions let nobody wait: a turn that began or ended well is none of this page's matter. */
function concernsInbox(news: News): boolean {
  if (news.type === 'approval.changed') return true;
  if (news.type !== 'session.changed') return false;
  return news.waits !== false || waiting().some((item) => item.sessionId === news.sessionId);
}

/** Follows the inbox for as long as somebody is signed in. */
export function startInbox(): void {
  setPages(1);
  setFinished(reconcile({}));
  // The title of the page and notifications tell of it while nobody looks.
  setLive(createLive<Loaded>(load, concernsInbox, { always: true }));
  onCleanup(
    onNews((news) => {
      if (news.type !== 'approval.changed') return;
      const { artifactId, status } = news;
      const isOpen = progress[artifactId]?.stage === 'sending';
      if (isOpen && (status === 'approved' || status === 'executing')) {
        setProgress(artifactId, { stage: 'recorded' });
        announce(t('recorded'));
      }
      const known = finished[artifactId];
      if (known !== undefined) void settle(known);
    }),
  );
}

export function loadMore(): void {
  if (!hasMore()) return;
  setPages(pages() + 1);
  void live()?.refresh();
}

export function clearFinished(): void {
  for (const itemId of Object.keys(finished)) cleared.add(itemId);
  setFinished(reconcile({}));
}

/** Decides one request. The answer comes once its action has ended. @returns whether the decision holds */
export async function decide(
  item: InboxItem,
  decision: 'approve' | 'deny',
  reason?: string,
): Promise<boolean> {
  setProgress(item.itemId, { stage: 'sending' });
  const outcome = await actions.approval.request.decide({
    artifactId: item.itemId,
    decision,
    ...(reason === undefined || reason === '' ? {} : { reason }),
  });
  if (outcome.status === 'ok') {
    const { approval, result } = outcome.output;
    setFinished(item.itemId, reconcile({ ...item, approval: { ...approval, result } }));
    setProgress(item.itemId, { stage: 'done' });
    announce(`${t(decision === 'approve' ? 'approved' : 'denied')}: ${item.title}`);
    return true;
  }
  if (outcome.status === 'error') {
    setProgress(item.itemId, { stage: 'done', error: outcome.error });
    // Somebody else was quicker, or it is over: the card says how it stands.
    await settleIfOver(item);
  }
  return false;
}

async function settleIfOver(item: InboxItem): Promise<void> {
  const now = await actions.approval.request.get({ artifactId: item.itemId });
  if (now.status === 'ok' && now.output.status !== 'pending') await settle(item);
}

/** Answers what an agent asks. */
export async function answer(item: InboxItem, words: string, call: () => Promise<unknown>): Promise<void> {
  setProgress(item.itemId, { stage: 'sending', answer: words });
  try {
    await call();
    setFinished(item.itemId, reconcile(item));
    setProgress(item.itemId, { stage: 'done', answer: words });
    announce(`${t('answered')}: ${words}`);
  } catch (error) {
    setProgress(item.itemId, { stage: 'done', error: toWire(error) });
  }
}
