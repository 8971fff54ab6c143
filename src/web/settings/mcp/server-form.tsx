import { createSignal, For, type JSX, Show } from 'solid-js';
import { createStore } from 'solid-js/store';
import { SERVER_LIMITS, SERVER_TIMEOUTS } from '../../../core/managed/limits.ts';
import type { WireError } from '../../../core/errors.ts';
import { actions, must } from '../../api/call.ts';
import { toWire } from '../../api/live.ts';
import { t, type TextKey } from '../../i18n/index.ts';
import { announce } from '../../ui/announce.ts';
import { Problem } from '../../ui/problem.tsx';
import { line } from '../../ui/text.tsx';
import { LinesField, SecretField, SecretsField, Segments, TextField } from './form-parts.tsx';
import { type FormValues, toChange, toSettings, toValues } from './form-values.ts';
import type { Server } from './servers.ts';
import { ShareFields } from './share-fields.tsx';
import { WhereField } from './where-field.tsx';

const TIMES: [
  field: keyof FormValues & `${string}Seconds`,
  label: TextKey,
  seconds: number,
  of?: FormValues['way'],
][] = [
  ['timeoutSeconds', 'mcpCallTime', SERVER_TIMEOUTS.call],
  ['listTimeoutSeconds', 'mcpListTime', SERVER_TIMEOUTS.list],
  ['connectTimeoutSeconds', 'mcpConnectTime', SERVER_TIMEOUTS.connect, 'url'],
  ['startTimeoutSeconds', 'mcpStartTime', SERVER_TIMEOUTS.start, 'command'],
];

/** A setting that is a text. */
type TextName = {
  [K in keyof FormValues]: FormValues[K] extends string | undefined ? K : never;
}[keyof FormValues];

/** A new server, or the settings of one. Secrets go in and never come out. */
export function ServerForm(props: { server: Server | undefined; onDone: () => void }): JSX.Element {
  const { server } = props;
  const [values, setValues] = createStore<FormValues>(toValues(server));
  const [error, setError] = createSignal<WireError>();
  const [busy, setBusy] = createSignal(false);
  const namesOf = (field: string) =>
    (server?.secrets ?? [])
      .filter((name) => name.startsWith(`${field}.`))
      .map((name) => name.slice(field.length + 1));
  const bind = (field: TextName) => ({
    value: values[field] ?? '',
    onInput: (value: string) => setValues(field, value as never),
  });

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (busy()) return;
    setBusy(true);
    setError(undefined);
    try {
      const saved = await must(save());
      announce(`${line(saved.name)}: ${t(`mcp_status_${saved.status}`)}`);
      props.onDone();
    } catch (failure) {
      setError(toWire(failure));
    }
    setBusy(false);
  }

  function save() {
    const name = values.name.trim();
    if (server === undefined) return actions.mcp.server.add({ name, ...toSettings(values) });
    const newName = name === server.name ? {} : { newName: name };
    return actions.mcp.server.update({ name: server.name, ...newName, ...toChange(server, values) });
  }

  return (
    <form class="form" autocomplete="off" onSubmit={(event) => void submit(event)}>
      <TextField label={t('field_name')} required maxLength={SERVER_LIMITS.name} {...bind('name')} />
      <Segments
        label={t('mcpWay')}
        value={values.way}
        options={[
          ['command', t('mcpProgram')],
          ['url', t('mcpAddress')],
        ]}
        onChange={(way) => setValues('way', way)}
      />
      <Show
        when={values.way === 'command'}
        fallback={
          <>
            <TextField label={t('mcpAddress')} required mode="url" placeholder="https://" {...bind('url')} />
            <SecretField
              label={t('mcpToken')}
              isSet={server?.secrets.includes('token') ?? false}
              value={values.token}
              onChange={(token) => setValues('token', token)}
            />
            <SecretsField
              label={t('mcpHeaders')}
              names={namesOf('headers')}
              rows={values.headers}
              onChange={(rows) => setValues('headers', rows)}
            />
          </>
        }
      >
        <TextField label={t('mcpProgram')} required placeholder="npx" {...bind('command')} />
        <LinesField label={t('mcpArguments')} how={t('mcpArgumentsHow')} rows={3} {...bind('args')} />
        <SecretsField
          label={t('mcpVariables')}
          names={namesOf('env')}
          rows={values.env}
          onChange={(rows) => setValues('env', rows)}
        />
        <WhereField value={values.where} onChange={(where) => setValues('where', where)} />
      </Show>
      <div class="pair">
        <LinesField label={t('mcpInclude')} how={t('mcpIncludeHow')} {...bind('include')} />
        <LinesField label={t('mcpExclude')} how={t('mcpExcludeHow')} {...bind('exclude')} />
      </div>
      <ShareFields values={values} onChange={(change) => setValues(change)} />
      <Segments
        label={t('mcpExposure')}
        value={values.exposure}
        options={[
          ['direct', t('mcpDirect')],
          ['discoverable', t('mcpDiscoverable')],
        ]}
        onChange={(exposure) => setValues('exposure', exposure)}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={values.trusted}
          onChange={(event) => setValues('trusted', event.currentTarget.checked)}
        />
        <span>{t('mcpTrusted')}</span>
      </label>
      <details>
        <summary>{t('moreFields')}</summary>
        <div class="form">
          <div class="pair">
            <For each={TIMES.filter(([, , , of]) => of === undefined || of === values.way)}>
              {([field, label, seconds]) => (
                <TextField label={t(label)} mode="numeric" placeholder={String(seconds)} {...bind(field)} />
              )}
            </For>
          </div>
          <Show when={values.way === 'url'} fallback={<TextField label={t('mcpFolder')} {...bind('cwd')} />}>
            <TextField label={t('mcpCaFile')} {...bind('caFile')} />
            <div class="pair">
              <TextField label={t('mcpClientId')} {...bind('clientId')} />
              <TextField label={t('mcpScope')} {...bind('scope')} />
            </div>
          </Show>
        </div>
      </details>
      <Problem error={error()} />
      <p class="buttons">
        <button type="submit" class="primary" disabled={busy()}>
          {busy() ? t('mcpTesting') : t(server === undefined ? 'mcpAddNow' : 'save')}
        </button>
      </p>
    </form>
  );
}
