import { createSignal, type JSX, Show } from 'solid-js';
import { titleOf } from '../api/catalog.ts';
import { t } from '../i18n/index.ts';
import { Fields } from '../ui/fields.tsx';
import { line, Stranger } from '../ui/text.tsx';
import { ago, fullTime, isPast } from '../ui/time.ts';
import { ApprovalOutcome } from './approval-outcome.tsx';
import { DenyForm } from './deny-form.tsx';
import { GrantForm } from './grant-form.tsx';
import { type ApprovalRow, decide, type InboxItem, progress } from './inbox-state.ts';
import { PolicyChange } from './policy-change.tsx';

/** A request for approval: what exactly would run, for whom, and until when it can be decided. */
export function ApprovalCard(props: { item: InboxItem; approval: ApprovalRow; over: boolean }): JSX.Element {
  const [form, setForm] = createSignal<'deny' | 'grant'>();
  const approval = () => props.approval;
  const state = () => progress[props.item.itemId];
  const isBusy = () => state()?.stage === 'sending' || state()?.stage === 'recorded';
  const canDecide = () => !props.over && !isBusy() && !isPast(approval().expiresAt);
  const toggle = (name: 'deny' | 'grant') => setForm(form() === name ? undefined : name);

  return (
    <>
      <h3 dir="auto">
        {line(titleOf(approval().actionId))} <code>{line(approval().actionId)}</code>
      </h3>
      <p class="who">
        {t('askedBy', {
          who: line(approval().requester.client),
          surface: t(`surface_${approval().requester.surface}`),
        })}
        <Show when={approval().count > 1}> · {t('askedTimes', { n: approval().count })}</Show>
        <Show when={!props.over}>
          {' · '}
          <span title={fullTime(approval().expiresAt)}>
            {isPast(approval().expiresAt)
              ? t('isExpired')
              : t('expires', { when: ago(approval().expiresAt) })}
          </span>
        </Show>
      </p>
      <Show when={approval().reason}>
        {(reason) => (
          <blockquote>
            <Stranger text={reason()} />
          </blockquote>
        )}
      </Show>
      <Fields values={approval().input} actionId={approval().actionId} />
      <Show when={!props.over}>
        <PolicyChange approval={approval()} />
      </Show>
      <Show when={approval().confirmation}>
        {(spoken) => <p class="muted">{t('saidAloud', { words: line(spoken().words) })}</p>}
      </Show>
      <Show when={approval().nearestGrant}>
        {(grant) => <p class="muted">{t('nearestGrant', { reason: line(grant().reason) })}</p>}
      </Show>
      <Show when={isBusy()}>
        <p class="outcome" role="status">
          {state()?.stage === 'recorded' ? t('recordedRunning') : t('recording')}
        </p>
      </Show>
      <Show when={props.over}>
        <ApprovalOutcome approval={approval()} />
      </Show>
      <Show when={canDecide()}>
        <p class="buttons">
          <button
            type="button"
            class="primary"
            data-do="approve"
            onClick={() => void decide(props.item, 'approve')}
          >
            {t('approve')}
          </button>
          <button
            type="button"
            data-do="deny"
            aria-expanded={form() === 'deny'}
            onClick={() => toggle('deny')}
          >
            {t('deny')}
          </button>
          <button
            type="button"
            class="quiet"
            aria-expanded={form() === 'grant'}
            onClick={() => toggle('grant')}
          >
            {t('allowSimilar')}
          </button>
        </p>
        <Show when={form() === 'deny'}>
          <DenyForm
            onCancel={() => setForm(undefined)}
            onDeny={(reason) => void decide(props.item, 'deny', reason)}
          />
        </Show>
        <Show when={form() === 'grant'}>
          <GrantForm item={props.item} approval={approval()} />
        </Show>
      </Show>
    </>
  );
}
