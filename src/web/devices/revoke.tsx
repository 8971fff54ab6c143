import { createSignal, type JSX, Show } from 'solid-js';
import { t } from '../i18n/index.ts';
import { line } from '../ui/text.tsx';
import { ago } from '../ui/time.ts';

export const lastUse = (at: string | undefined): string =>
  at === undefined ? t('neverUsed') : t('lastUsed', { when: ago(at) });

/** Asks once more in place: what is revoked cannot be brought back. */
export function Revoke(props: { name: string; onRevoke: () => Promise<boolean> }): JSX.Element {
  const [asking, setAsking] = createSignal(false);
  return (
    <Show
      when={asking()}
      fallback={
        <button
          type="button"
          class="quiet small"
          aria-label={`${t('revoke')}: ${line(props.name)}`}
          onClick={() => setAsking(true)}
        >
          {t('revoke')}
        </button>
      }
    >
      <button type="button" class="danger small" onClick={() => void props.onRevoke()}>
        {t('revokeNow')}
      </button>
      <button type="button" class="quiet small" onClick={() => setAsking(false)}>
        {t('cancel')}
      </button>
    </Show>
  );
}
