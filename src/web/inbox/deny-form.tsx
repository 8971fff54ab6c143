import { createSignal, type JSX, onMount } from 'solid-js';
import { t } from '../i18n/index.ts';

/** Says no, and why: the one who asked reads it. */
export function DenyForm(props: { onDeny: (reason: string) => void; onCancel: () => void }): JSX.Element {
  const [reason, setReason] = createSignal('');
  let field: HTMLTextAreaElement | undefined;
  onMount(() => field?.focus());
  return (
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        event.currentTarget.closest('article')?.focus();
        props.onDeny(reason().trim());
      }}
      onKeyDown={(event) => event.key === 'Escape' && props.onCancel()}
    >
      <label>
        <span>{t('denyReason')}</span>
        <textarea
          ref={field}
          rows="2"
          maxLength={2000}
          value={reason()}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
      </label>
      <p class="buttons">
        <button type="submit" class="danger">
          {t('denyNow')}
        </button>
        <button type="button" class="quiet" onClick={() => props.onCancel()}>
          {t('cancel')}
        </button>
      </p>
    </form>
  );
}
