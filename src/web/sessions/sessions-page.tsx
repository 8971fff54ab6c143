import { createMemo, createSignal, For, type JSX, Show } from 'solid-js';
import { SESSION_STATUSES, type SessionStatus } from '../../core/session.ts';
import { actions, must } from '../api/call.ts';
import { createPaged } from '../api/pages.ts';
import { t } from '../i18n/index.ts';
import { Icon } from '../ui/icons.tsx';
import { moveAmong, useKeys } from '../ui/keys.ts';
import { MoreOf } from '../ui/load-more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Rows } from '../ui/rows.tsx';
import { createMachineNames } from './machine-names.ts';
import { NewSessionDialog } from './new-session.tsx';
import { SessionLine } from './session-line.tsx';
import { type SessionRow, toTree } from './session-tree.ts';

const PAGE = 100;

export default function SessionsPage(): JSX.Element {
  const [query, setQuery] = createSignal('');
  const [status, setStatus] = createSignal<SessionStatus>();
  const [archived, setArchived] = createSignal(false);
  const [creating, setCreating] = createSignal(false);
  const nameOf = createMachineNames();
  let search: HTMLInputElement | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const list = createPaged<SessionRow>(
    async (place) => {
      const { sessions, nextCursor } = await must(
        actions.session.list({
          limit: PAGE,
          archived: archived() ? 'only' : 'exclude',
          ...(query() === '' ? {} : { query: query() }),
          ...(status() === undefined ? {} : { status: status() }),
          ...place,
        }),
      );
      return { items: sessions, nextCursor };
    },
    ({ type }) => type === 'session.changed',
  );
  const rows = createMemo(() => toTree(list.data()?.rows ?? []));
  const isFiltered = () => query() !== '' || status() !== undefined || archived();

  function change(set: () => void): void {
    set();
    list.startOver();
    clearTimeout(timer);
    timer = setTimeout(() => void list.refresh(), 120);
  }
  const move = (by: number) => moveAmong('.session-line a', by);
  useKeys({
    '/': () => search?.focus(),
    c: () => setCreating(true),
    j: () => move(1),
    k: () => move(-1),
  });

  return (
    <div class="page">
      <header class="page-head">
        <h1>{t('sessions')}</h1>
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          {t('newSession')}
        </button>
      </header>
      <div class="filters" role="search">
        <input
          ref={search}
          type="search"
          placeholder={t('searchSessions')}
          aria-label={t('searchSessions')}
          value={query()}
          onInput={(event) => change(() => setQuery(event.currentTarget.value.trim()))}
        />
        <select
          aria-label={t('status')}
          onChange={(event) =>
            change(() => setStatus((event.currentTarget.value || undefined) as SessionStatus))
          }
        >
          <option value="">{t('anyStatus')}</option>
          <For each={SESSION_STATUSES}>{(name) => <option value={name}>{t(`status_${name}`)}</option>}</For>
        </select>
        <label class="check">
          <input
            type="checkbox"
            checked={archived()}
            onChange={(event) => change(() => setArchived(event.currentTarget.checked))}
          />
          <span>{t('archivedShown')}</span>
        </label>
      </div>
      <Problem error={list.error()} />
      <Show when={list.data() !== undefined} fallback={<p class="loading">{t('loading')}</p>}>
        <Show
          when={rows().length > 0}
          fallback={
            <div class="nothing">
              <p class="big">{isFiltered() ? t('noMatch') : t('noSessions')}</p>
              <p>{isFiltered() ? '' : t('noSessionsHow')}</p>
            </div>
          }
        >
          <ul class="session-list">
            <Rows each={rows()} by={({ session }) => session.sessionId}>
              {(row) => <SessionLine row={row()} machine={nameOf(row().session.machineId)} />}
            </Rows>
          </ul>
        </Show>
        <MoreOf list={list} />
      </Show>
      <Show when={creating()}>
        <NewSessionDialog onClose={() => setCreating(false)} />
      </Show>
    </div>
  );
}
