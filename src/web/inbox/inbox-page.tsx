import { createMemo, createSignal, For, type JSX, onCleanup, onMount, Show } from 'solid-js';
import { t } from '../i18n/index.ts';
import { useKeys } from '../ui/keys.ts';
import { LoadMore } from '../ui/load-more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Rows } from '../ui/rows.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { Card } from './card.tsx';
import { GroupHead } from './group-head.tsx';
import {
  clearFinished,
  finished,
  hasMore,
  inboxError,
  type InboxItem,
  inboxItems,
  inboxLoaded,
  loadMore,
} from './inbox-state.ts';
import { NotifyButton } from './notify.tsx';

const KINDS = ['all', 'approval', 'permission', 'question', 'failed', 'stalled'] as const;

interface Group {
  key: string;
  items: InboxItem[];
}

/** Cards of one session together, at the place of its newest one. */
function toGroups(items: InboxItem[]): Group[] {
  const groups = new Map<string, Group>();
  for (const item of items) {
    const key = item.sessionId ?? '';
    const group = groups.get(key) ?? { key, items: [] };
    group.items.push(item);
    groups.set(key, group);
  }
  return [...groups.values()];
}

export default function InboxPage(): JSX.Element {
  const [kind, setKind] = createSignal<(typeof KINDS)[number]>('all');
  const [current, setCurrent] = createSignal<string>();
  const [selected, setSelected] = createSignal<ReadonlySet<string>>(new Set());
  const shown = createMemo(() => inboxItems().filter((item) => kind() === 'all' || item.kind === kind()));
  const groups = createMemo(() => toGroups(shown()));
  const inOrder = createMemo(() => groups().flatMap(({ items }) => items));

  const cardOf = (id: string | undefined) =>
    id === undefined ? null : document.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`);
  function move(by: number): void {
    const all = inOrder();
    const at = all.findIndex(({ itemId }) => itemId === current());
    const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
    if (next === undefined) return;
    setCurrent(next.itemId);
    cardOf(next.itemId)?.focus();
  }
  /** Only on the card that has the focus: a key decides nothing that nobody points at. */
  const press = (name: string) => () => {
    const card = cardOf(current());
    if (card?.contains(document.activeElement) !== true) return;
    card.querySelector<HTMLElement>(`[data-do="${name}"]`)?.click();
  };
  const toggle = (id: string) => {
    const next = new Set(selected());
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };

  useKeys({
    j: () => move(1),
    k: () => move(-1),
    a: press('approve'),
    d: press('deny'),
    x: press('select'),
    Enter: press('open'),
  });

  return (
    <div class="page narrow">
      <header class="page-head">
        <h1>{t('inbox')}</h1>
        <NotifyButton />
        <Show when={Object.keys(finished).length > 0}>
          <button type="button" class="quiet" onClick={clearFinished}>
            {t('clearFinished')}
          </button>
        </Show>
      </header>
      <div class="chips" role="group" aria-label={t('filterByKind')}>
        <For each={KINDS}>
          {(name) => (
            <button type="button" class="chip" aria-pressed={kind() === name} onClick={() => setKind(name)}>
              {t(`kind_${name}`)}
            </button>
          )}
        </For>
      </div>
      <Problem error={inboxError()} />
      <BulkBar items={shown()} selected={selected()} onSelect={setSelected} />
      <Show when={inboxLoaded()} fallback={<p class="loading">{t('loading')}</p>}>
        <Show when={shown().length > 0} fallback={<Nothing />}>
          <Rows each={groups()} by={({ key }) => key}>
            {(group) => (
              <section class="group">
                <GroupHead items={group().items} />
                <Rows each={group().items} by={({ itemId }) => itemId}>
                  {(item) => (
                    <Card
                      item={item()}
                      selected={selected().has(item().itemId)}
                      onSelect={() => toggle(item().itemId)}
                      onFocus={() => setCurrent(item().itemId)}
                    />
                  )}
                </Rows>
              </section>
            )}
          </Rows>
        </Show>
        <Show when={hasMore()}>
          <More />
        </Show>
      </Show>
    </div>
  );
}

function Nothing(): JSX.Element {
  return (
    <div class="nothing">
      <p class="big">{t('inboxEmpty')}</p>
      <p>{t('inboxEmptyHow')}</p>
    </div>
  );
}

/** Loads what follows as it comes into sight; by hand where that is not noticed. */
function More(): JSX.Element {
  let button: HTMLButtonElement | undefined;
  onMount(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && loadMore());
    observer.observe(button!);
    onCleanup(() => observer.disconnect());
  });
  return (
    <LoadMore
      ref={(made) => {
        button = made;
      }}
      onLoad={loadMore}
    />
  );
}
