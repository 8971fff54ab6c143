import { createSignal, For, type JSX, onCleanup, Show } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { SURFACES, type Surface } from '../../core/spec.ts';
import { actions, must } from '../api/call.ts';
import { catalogEntries, titleOf } from '../api/catalog.ts';
import { toWire } from '../api/live.ts';
import { createPaged } from '../api/pages.ts';
import { t, tOr } from '../i18n/index.ts';
import { Fields } from '../ui/fields.tsx';
import { MoreOf } from '../ui/load-more.tsx';
import { Problem } from '../ui/problem.tsx';
import { A } from '../ui/router.tsx';
import { Rows } from '../ui/rows.tsx';
import { line } from '../ui/text.tsx';
import { fullTime } from '../ui/time.ts';
import { type AuditFilter, type AuditRow, auditPage, exportAudit } from './export.ts';

const PAGE = 100;
/** Milliseconds between two looks while following: calls that only read make no news. */
const FOLLOW_MS = 3000;
const OUTCOMES = ['ok', 'approval_required', 'error'] as const;

/** Who did what: every call, with what it came to. */
export default function AuditPage(): JSX.Element {
  // Most calls only look, this page's own among them.
  const [filter, setFilter] = createSignal<AuditFilter>({ withoutReads: true });
  const [following, setFollowing] = createSignal(false);
  const [error, setError] = createSignal<WireError>();
  const [verdict, setVerdict] = createSignal<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const list = createPaged(
    (place) => auditPage({ ...filter(), limit: PAGE, ...place }),
    () => false,
  );
  const poll = setInterval(() => following() && !document.hidden && void list.refresh(), FOLLOW_MS);
  onCleanup(() => clearInterval(poll));

  function change(next: AuditFilter): void {
    const clean = Object.entries({ ...filter(), ...next }).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    setFilter(Object.fromEntries(clean) as AuditFilter);
    list.startOver();
    clearTimeout(timer);
    timer = setTimeout(() => void list.refresh(), 200);
  }
  async function run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      setError(undefined);
    } catch (failure) {
      setError(toWire(failure));
    }
  }
  const verify = async () => {
    const { intact, rows, fault } = await must(actions.audit.verify({}));
    setVerdict(
      intact
        ? t('auditIntact', { n: rows })
        : `${t('auditBroken', { n: fault?.auditId ?? 0 })} ${fault?.reason ?? ''}`,
    );
  };

  return (
    <div class="page">
      <header class="page-head">
        <h1>{t('audit')}</h1>
        <button type="button" aria-pressed={following()} onClick={() => setFollowing(!following())}>
          {t(following() ? 'followOn' : 'follow')}
        </button>
        <button type="button" onClick={() => void run(verify)}>
          {t('verify')}
        </button>
        <button type="button" onClick={() => void run(() => exportAudit(filter()))}>
          {t('export')}
        </button>
      </header>
      <div class="filters" role="search">
        <select
          aria-label={t('surface')}
          onChange={(event) =>
            change({ surface: (event.currentTarget.value || undefined) as Surface | undefined })
          }
        >
          <option value="">{t('anySurface')}</option>
          <For each={SURFACES}>{(name) => <option value={name}>{t(`surface_${name}`)}</option>}</For>
        </select>
        <select
          aria-label={t('outcome')}
          onChange={(event) =>
            change({ outcome: (event.currentTarget.value || undefined) as AuditFilter['outcome'] })
          }
        >
          <option value="">{t('anyOutcome')}</option>
          <For each={OUTCOMES}>{(name) => <option value={name}>{t(`audit_${name}`)}</option>}</For>
        </select>
        <input
          list="audit-actions"
          placeholder={t('action')}
          aria-label={t('action')}
          onInput={(event) => change({ actionId: event.currentTarget.value.trim() })}
        />
        <datalist id="audit-actions">
          <For each={catalogEntries()}>{(action) => <option value={action.id} />}</For>
        </datalist>
        <input
          placeholder={t('client')}
          aria-label={t('client')}
          onInput={(event) => change({ client: event.currentTarget.value.trim() })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={filter().withoutReads !== true}
            onChange={(event) => change({ withoutReads: !event.currentTarget.checked })}
          />
          <span>{t('withReads')}</span>
        </label>
      </div>
      <Show when={verdict()}>
        {(words) => (
          <p class="outcome" role="status">
            {line(words())}
          </p>
        )}
      </Show>
      <Problem error={error() ?? list.error()} />
      <Show when={list.data()} fallback={<p class="loading">{t('loading')}</p>}>
        {(found) => (
          <Show when={found().rows.length > 0} fallback={<p class="nothing">{t('noMatch')}</p>}>
            <ol class="audit-list">
              <Rows each={found().rows} by={({ auditId }) => String(auditId)}>
                {(row) => <AuditLine row={row()} />}
              </Rows>
            </ol>
            <MoreOf list={list} />
          </Show>
        )}
      </Show>
    </div>
  );
}

function AuditLine(props: { row: AuditRow }): JSX.Element {
  return (
    <li>
      <details>
        <summary>
          <time datetime={props.row.at}>{fullTime(props.row.at)}</time>
          <span class={`audit-outcome ${props.row.outcome}`}>
            {props.row.code === undefined
              ? tOr(`audit_${props.row.outcome}`, props.row.outcome)
              : line(props.row.code)}
          </span>
          <Show when={titleOf(props.row.actionId) !== props.row.actionId}>
            <span class="title">{line(titleOf(props.row.actionId))}</span>
          </Show>
          <code>{line(props.row.actionId)}</code>
          <span class="muted">{line(props.row.client)}</span>
        </summary>
        <Fields values={props.row.input} actionId={props.row.actionId} />
        <p class="muted">
          {props.row.auditId} · {Math.round(props.row.durationMs)} ms · {line(props.row.tokenId)}
          <Show when={props.row.sessionId}>
            {(id) => (
              <>
                {' · '}
                <A href={`/sessions/${id()}`}>{id()}</A>
              </>
            )}
          </Show>
        </p>
      </details>
    </li>
  );
}
