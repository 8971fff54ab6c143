import { type JSX, Show } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import { t, tOr } from '../i18n/index.ts';

/** What went wrong and what to do, where it happened. */
export function Problem(props: { error: WireError | undefined; retry?: () => void }): JSX.Element {
  return (
    <Show when={props.error}>
      {(error) => (
        <div class="problem" role="alert">
          <p>
            <strong>{tOr(`code_${error().code}`, error().code)}</strong> {toVisibleText(error().message)}
          </p>
          <Show when={error().hint}>{(hint) => <p class="muted">{toVisibleText(hint())}</p>}</Show>
          <Show when={props.retry}>
            <button type="button" onClick={() => props.retry?.()}>
              {t('tryAgain')}
            </button>
          </Show>
        </div>
      )}
    </Show>
  );
}
