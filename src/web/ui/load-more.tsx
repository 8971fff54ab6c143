import { type JSX, Show } from 'solid-js';
import type { PagedLive } from '../api/pages.ts';
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

/** The button for one page more of a list, while there is more. */
export function MoreOf(props: { list: Pick<PagedLive<unknown>, 'data' | 'loadMore'> }): JSX.Element {
  return (
    <Show when={props.list.data()?.more}>
      <LoadMore onLoad={() => props.list.loadMore()} />
    </Show>
  );
}
