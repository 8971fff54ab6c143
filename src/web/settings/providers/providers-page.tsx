import { createSignal, type JSX, Show } from 'solid-js';
import { actions, must } from '../../api/call.ts';
import { createLive } from '../../api/live.ts';
import { t } from '../../i18n/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Problem } from '../../ui/problem.tsx';
import { Rows } from '../../ui/rows.tsx';
import { line } from '../../ui/text.tsx';
import { ProviderCard } from './provider-card.tsx';
import { ProviderForm } from './provider-form.tsx';
import type { Provider } from './provider-values.ts';

/** The services that search the web or answer from it, in the order in which they are asked. */
export default function ProvidersPage(): JSX.Element {
  const providers = createLive(
    async () => (await must(actions.provider.list({}))).providers,
    ({ type }) => type === 'catalog.changed',
  );
  const [open, setOpen] = createSignal<{ form: Provider | undefined }>();
  const close = () => {
    setOpen(undefined);
    void providers.refresh();
  };
  useKeys({ c: () => setOpen({ form: undefined }) });

  return (
    <div class="page narrow">
      <header class="page-head">
        <h1>{t('providers')}</h1>
        <button type="button" class="primary" onClick={() => setOpen({ form: undefined })}>
          {t('providerAdd')}
        </button>
      </header>
      <p class="lead">{t('providersLead')}</p>
      <Problem error={providers.error()} />
      <Show when={providers.data()} fallback={<p class="loading">{t('loading')}</p>}>
        {(list) => (
          <Show when={list().length > 0} fallback={<p class="nothing">{t('providersNone')}</p>}>
            <Rows each={list()} by={({ id }) => id}>
              {(provider) => (
                <ProviderCard
                  provider={provider()}
                  onEdit={() => setOpen({ form: provider() })}
                  onChanged={() => void providers.refresh()}
                />
              )}
            </Rows>
          </Show>
        )}
      </Show>
      <Show when={open()} keyed>
        {({ form }) => (
          <Dialog
            title={form === undefined ? t('providerAddTitle') : t('mcpEditTitle', { name: line(form.id) })}
            onClose={close}
          >
            <ProviderForm provider={form} onDone={close} />
          </Dialog>
        )}
      </Show>
    </div>
  );
}
