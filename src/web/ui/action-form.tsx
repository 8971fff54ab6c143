import { createSignal, For, type JSX, Show } from 'solid-js';
import { createStore } from 'solid-js/store';
import type { WireError } from '../../core/errors.ts';
import type { ActionManifest, JsonSchema } from '../../core/spec.ts';
import { callAction } from '../api/call.ts';
import { t } from '../i18n/index.ts';
import { FormField } from './form-field.tsx';
import { Problem } from './problem.tsx';

export type FormValues = Record<string, unknown>;

/** A form made of an action's schema and hints, which calls it. */
export function ActionForm(props: {
  action: ActionManifest;
  /** Fields in the order to show them; all others are folded under them. */
  first: string[];
  /** Fields that follow side by side. */
  second?: string[];
  values?: FormValues;
  submit: string;
  onDone: (output: Record<string, unknown>) => void;
}): JSX.Element {
  const [values, setValues] = createStore<FormValues>({ ...props.values });
  const [error, setError] = createSignal<WireError>();
  const [busy, setBusy] = createSignal(false);
  const schemas = (): Record<string, JsonSchema> => props.action.inputSchema.properties ?? {};
  const rest = () =>
    Object.keys(schemas()).filter((name) => ![...props.first, ...(props.second ?? [])].includes(name));

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const outcome = await callAction(props.action.id, { ...values });
    setBusy(false);
    if (outcome.status === 'ok') props.onDone(outcome.output);
    else if (outcome.status === 'error') setError(outcome.error);
    else setError({ code: 'conflict', message: outcome.approval.summary, retryable: false });
  }

  const field = (name: string) => (
    <FormField
      action={props.action}
      name={name}
      schema={schemas()[name]!}
      values={values}
      onChange={(value) => setValues(name, value)}
    />
  );
  return (
    <form class="form" onSubmit={(event) => void submit(event)}>
      <For each={props.first.filter((name) => name in schemas())}>{field}</For>
      <div class="pair">
        <For each={(props.second ?? []).filter((name) => name in schemas())}>{field}</For>
      </div>
      <Show when={rest().length > 0}>
        <details>
          <summary>{t('moreFields')}</summary>
          <div class="form">
            <For each={rest()}>{field}</For>
          </div>
        </details>
      </Show>
      <Problem error={error()} />
      <p class="buttons">
        <button type="submit" class="primary" disabled={busy()}>
          {busy() ? t('starting') : props.submit}
        </button>
      </p>
    </form>
  );
}
