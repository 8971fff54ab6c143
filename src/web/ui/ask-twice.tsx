import { createSignal, type JSX, Show } from 'solid-js';
import { t } from '../i18n/index.ts';

/** A button for what cannot be brought back: it asks once more, in place. The focus goes along. */
export function AskTwice(props: {
  ask: string;
  /** Of which of several things it is, for whoever hears the button alone. */
  of?: string;
  sure: string;
  onSure: () => void;
}): JSX.Element {
  const [asking, setAsking] = createSignal(false);
  let first: HTMLButtonElement | undefined;
  function turn(next: boolean): void {
    setAsking(next);
    first?.focus();
  }
  const keep = (button: HTMLButtonElement) => {
    first = button;
  };
  return (
    <Show
      when={asking()}
      fallback={
        <button
          type="button"
          class="quiet small"
          ref={keep}
          aria-label={props.of === undefined ? undefined : `${props.ask}: ${props.of}`}
          onClick={() => turn(true)}
        >
          {props.ask}
        </button>
      }
    >
      <button
        type="button"
        class="danger small"
        ref={keep}
        onClick={() => {
          setAsking(false);
          props.onSure();
        }}
      >
        {props.sure}
      </button>
      <button type="button" class="quiet small" onClick={() => turn(false)}>
        {t('cancel')}
      </button>
    </Show>
  );
}
