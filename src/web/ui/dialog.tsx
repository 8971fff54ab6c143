import { createUniqueId, type JSX, onMount } from 'solid-js';
import { t } from '../i18n/index.ts';

/** A modal dialog of the browser's own: it keeps the focus, closes with Escape, and gives the focus back. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  class?: string;
  children: JSX.Element;
}): JSX.Element {
  const id = createUniqueId();
  let dialog: HTMLDialogElement | undefined;
  onMount(() => dialog?.showModal());
  return (
    <dialog
      ref={dialog}
      class={`dialog ${props.class ?? ''}`}
      aria-labelledby={id}
      onClose={() => props.onClose()}
      onClick={(event) => event.target === dialog && dialog.close()}
    >
      <div class="dialog-body">
        <header>
          <h2 id={id}>{props.title}</h2>
          <button type="button" class="icon" aria-label={t('close')} onClick={() => dialog?.close()}>
            ✕
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
