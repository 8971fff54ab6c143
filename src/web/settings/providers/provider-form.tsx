import { createSignal, type JSX, Show } from 'solid-js';
import { createStore } from 'solid-js/store';
import type { WireError } from '../../../core/errors.ts';
import { actions, must } from '../../api/call.ts';
import { toWire } from '../../api/live.ts';
import { t } from '../../i18n/index.ts';
import { announce } from '../../ui/announce.ts';
import { Problem } from '../../ui/problem.tsx';
import { line } from '../../ui/text.tsx';
import { SecretField, Segments, TextField } from '../mcp/form-parts.tsx';
import {
  type FormValues,
  isAnswering,
  KINDS,
  type Provider,
  toSettings,
  toValues,
} from './provider-values.ts';

/** A new provider, or the settings of one. Its key goes in and never comes out. */
export function ProviderForm(props: { provider: Provider | undefined; onDone: () => void }): JSX.Element {
  const { provider } = props;
  const [values, setValues] = createStore<FormValues>(toValues(provider));
  const [error, setError] = createSignal<WireError>();
  const [busy, setBusy] = createSignal(false);
  const bind = (field: Exclude<keyof FormValues, 'kind' | 'api_key'>) => ({
    value: values[field],
    onInput: (value: string) => setValues(field, value),
  });

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (busy()) return;
    setBusy(true);
    setError(undefined);
    try {
      const saved = await must(actions.provider.set(toSettings(values)));
      announce(t('providerSaved', { name: line(saved.provider.id) }));
      props.onDone();
    } catch (failure) {
      setError(toWire(failure));
    }
    setBusy(false);
  }

  return (
    <form class="form" autocomplete="off" onSubmit={(event) => void submit(event)}>
      <Show when={provider === undefined}>
        <TextField label={t('field_name')} required maxLength={40} placeholder="home" {...bind('id')} />
        <Segments
          label={t('field_kind')}
          value={values.kind}
          options={KINDS}
          onChange={(kind) => setValues('kind', kind)}
        />
      </Show>
      <TextField
        label={t('mcpAddress')}
        required={values.kind === 'searxng'}
        mode="url"
        placeholder={values.kind === 'searxng' ? 'http://127.0.0.1:8888' : t('providerOwnAddress')}
        {...bind('base_url')}
      />
      <Show when={isAnswering(values.kind)}>
        <TextField label={t('field_modelId')} required {...bind('model')} />
      </Show>
      <SecretField
        label={t('providerKey')}
        isSet={provider?.has_key ?? false}
        value={values.api_key}
        onChange={(key) => setValues('api_key', key)}
      />
      <div class="pair">
        <Show when={!isAnswering(values.kind)}>
          <TextField
            label={t('providerMaxResults')}
            mode="numeric"
            placeholder="10"
            {...bind('max_results')}
          />
        </Show>
        <Show when={values.kind === 'searxng'}>
          <TextField label={t('providerLanguage')} placeholder="en" {...bind('default_language')} />
        </Show>
        <TextField label={t('providerTime')} mode="numeric" {...bind('timeout_seconds')} />
      </div>
      <Problem error={error()} />
      <p class="buttons">
        <button type="submit" class="primary" disabled={busy()}>
          {t('save')}
        </button>
      </p>
    </form>
  );
}
