import { type JSX, onMount } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { actions } from '../api/call.ts';
import { t } from '../i18n/index.ts';
import type { SessionInFull } from './session-context.ts';

export function TitleForm(props: {
  session: SessionInFull;
  onDone: () => void;
  onError: (error: WireError | undefined) => void;
}): JSX.Element {
  let field: HTMLInputElement | undefined;
  onMount(() => field?.select());

  async function save(): Promise<void> {
    const title = field?.value.trim() ?? '';
    if (title === '') return props.onDone();
    const { sessionId } = props.session;
    const outcome = await actions.session.title.set({ sessionId, title });
    props.onError(outcome.status === 'error' ? outcome.error : undefined);
    if (outcome.status === 'ok') props.onDone();
  }

  return (
    <form
      class="title-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => event.key === 'Escape' && props.onDone()}
    >
      <input ref={field} aria-label={t('title')} maxLength={200} value={props.session.title ?? ''} />
      <button type="submit" class="primary">
        {t('save')}
      </button>
    </form>
  );
}
