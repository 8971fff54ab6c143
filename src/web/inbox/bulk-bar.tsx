import { createSignal, type JSX, Show } from 'solid-js';
import { t } from '../i18n/index.ts';
import { DenyForm } from './deny-form.tsx';
import { decide, finished, type InboxItem } from './inbox-state.ts';

/** Decides several requests with one press: each is its own decision, and each card shows its own outcome. */
export function BulkBar(props: {
  items: InboxItem[];
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
}): JSX.Element {
  const [denying, setDenying] = createSignal(false);
  const open = () => props.items.filter(({ kind, itemId }) => kind === 'approval' && !(itemId in finished));
  const chosen = () => open().filter(({ itemId }) => props.selected.has(itemId));
  const isAll = () => chosen().length === open().length;

  function run(decision: 'approve' | 'deny', reason?: string): void {
    const items = chosen();
    props.onSelect(new Set());
    setDenying(false);
    void Promise.all(items.map((item) => decide(item, decision, reason)));
  }

  return (
    <Show when={open().length > 1}>
      <div class="bulk" role="group" aria-label={t('several')}>
        <label class="check">
          <input
            type="checkbox"
            checked={isAll()}
            onChange={() => props.onSelect(new Set(isAll() ? [] : open().map(({ itemId }) => itemId)))}
          />
          <span>{chosen().length === 0 ? t('selectAll') : t('selected', { n: chosen().length })}</span>
        </label>
        <Show when={chosen().length > 0}>
          <button type="button" class="primary" onClick={() => run('approve')}>
            {t('approveSelected')}
          </button>
          <button type="button" aria-expanded={denying()} onClick={() => setDenying(!denying())}>
            {t('denySelected')}
          </button>
        </Show>
        <Show when={denying() && chosen().length > 0}>
          <DenyForm onDeny={(reason) => run('deny', reason)} onCancel={() => setDenying(false)} />
        </Show>
      </div>
    </Show>
  );
}
