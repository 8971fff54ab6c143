import type { JSX } from 'solid-js';
import { t } from '../i18n/index.ts';

export function LoadMore(props: {
  onLoad: () => void;
  ref?: (button: HTMLButtonElement) => void;
}): JSX.Element {
  return (
    <button ref={props.ref} type="button" class="more" onClick={() => props.onLoad()}>
      {t('loadMore')}
    </button>
  );
}
