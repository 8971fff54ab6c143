import { type JSX, Show } from 'solid-js';
import { catalogEntry } from '../api/catalog.ts';
import { actions, idOf } from '../api/call.ts';
import { t } from '../i18n/index.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { navigate } from '../ui/router.tsx';

const FIRST = ['agentId', 'directory', 'message', 'title'];
const SECOND = ['permissionMode', 'modelId', 'machineId'];

/** Starts a session, with the fields that its action declares. */
export function NewSessionDialog(props: { onClose: () => void }): JSX.Element {
  const action = () => catalogEntry(idOf(actions.session.spawn_new));
  return (
    <Dialog title={t('newSession')} onClose={props.onClose}>
      <Show when={action()} keyed fallback={<p class="loading">{t('loading')}</p>}>
        {(manifest) => (
          <ActionForm
            action={manifest}
            first={FIRST}
            second={SECOND}
            submit={t('start')}
            onDone={({ sessionId }) => {
              props.onClose();
              navigate(`/sessions/${String(sessionId)}`);
            }}
          />
        )}
      </Show>
    </Dialog>
  );
}
