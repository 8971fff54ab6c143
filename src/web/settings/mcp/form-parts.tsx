import { createUniqueId, For, type JSX, Show } from 'solid-js';
import { t } from '../../i18n/index.ts';
import { Rows } from '../../ui/rows.tsx';
import { line } from '../../ui/text.tsx';
import type { SecretRow } from './form-values.ts';

interface FieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  how?: string;
}

/** A text on one line. */
export function TextField(
  props: FieldProps & {
    required?: boolean;
    placeholder?: string;
    mode?: 'text' | 'url' | 'numeric';
    maxLength?: number;
  },
): JSX.Element {
  const id = createUniqueId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <input
        id={id}
        type="text"
        required={props.required ?? false}
        placeholder={props.placeholder ?? ''}
        inputmode={props.mode ?? 'text'}
        pattern={props.mode === 'numeric' ? '[1-9][0-9]{0,4}' : undefined}
        maxlength={props.maxLength}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={props.value}
        aria-describedby={props.how === undefined ? undefined : `${id}-how`}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      <How id={id} text={props.how} />
    </div>
  );
}

/** Texts one a line. */
export function LinesField(props: FieldProps & { rows?: number }): JSX.Element {
  const id = createUniqueId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <textarea
        id={id}
        rows={props.rows ?? 2}
        autocapitalize="off"
        spellcheck={false}
        value={props.value}
        aria-describedby={props.how === undefined ? undefined : `${id}-how`}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      <How id={id} text={props.how} />
    </div>
  );
}

function How(props: { id: string; text: string | undefined }): JSX.Element {
  return (
    <Show when={props.text}>
      <p id={`${props.id}-how`} class="muted how">
        {props.text}
      </p>
    </Show>
  );
}

/** One secret. What is set is never shown: it stays, or another takes its place. */
export function SecretField(props: {
  label: string;
  isSet: boolean;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}): JSX.Element {
  const id = createUniqueId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <Show
        when={!props.isSet || props.value !== undefined}
        fallback={<IsSet label={props.label} names={[]} onReplace={() => props.onChange('')} />}
      >
        <input
          id={id}
          type="password"
          autocomplete="new-password"
          value={props.value ?? ''}
          onInput={(event) => props.onChange(event.currentTarget.value)}
        />
        <Keep when={props.isSet} label={props.label} onKeep={() => props.onChange(undefined)} />
      </Show>
    </div>
  );
}

/** Named secrets, such as the variables of a program. They are replaced together: the backend gives none of them back. */
export function SecretsField(props: {
  label: string;
  /** Names of those that are set. */
  names: string[];
  rows: SecretRow[] | undefined;
  onChange: (rows: SecretRow[] | undefined) => void;
}): JSX.Element {
  const rows = () => props.rows ?? [];
  const put = (at: number, change: Partial<SecretRow>) =>
    props.onChange(rows().map((row, i) => (i === at ? { ...row, ...change } : row)));
  return (
    <fieldset class="field">
      <legend>{props.label}</legend>
      <Show
        when={props.names.length === 0 || props.rows !== undefined}
        fallback={
          <IsSet
            label={props.label}
            names={props.names}
            onReplace={() => props.onChange(props.names.map((name) => ({ name, value: '' })))}
          />
        }
      >
        <For each={rows().map((_, i) => i)}>
          {(at) => (
            <div class="secret-row">
              <input
                type="text"
                aria-label={`${props.label} ${at + 1}: ${t('mcpSecretName')}`}
                placeholder={t('mcpSecretName')}
                autocomplete="off"
                autocapitalize="off"
                spellcheck={false}
                value={rows()[at]?.name ?? ''}
                onInput={(event) => put(at, { name: event.currentTarget.value })}
              />
              <input
                type="password"
                aria-label={`${props.label} ${at + 1}: ${t('mcpSecretValue')}`}
                placeholder={t('mcpSecretValue')}
                autocomplete="new-password"
                value={rows()[at]?.value ?? ''}
                onInput={(event) => put(at, { value: event.currentTarget.value })}
              />
              <button
                type="button"
                class="icon"
                aria-label={`${t('mcpTakeOut')}: ${props.label} ${at + 1}`}
                onClick={() => props.onChange(rows().filter((_, i) => i !== at))}
              >
                ✕
              </button>
            </div>
          )}
        </For>
        <p class="buttons">
          <button
            type="button"
            class="small"
            aria-label={`${t('mcpOneMore')}: ${props.label}`}
            onClick={() => props.onChange([...rows(), { name: '', value: '' }])}
          >
            {t('mcpOneMore')}
          </button>
          <Keep when={props.names.length > 0} label={props.label} onKeep={() => props.onChange(undefined)} />
        </p>
        <Show when={props.names.length > 0}>
          <p class="muted how">{t('mcpReplaceHow')}</p>
        </Show>
      </Show>
    </fieldset>
  );
}

function IsSet(props: { label: string; names: string[]; onReplace: () => void }): JSX.Element {
  return (
    <p class="buttons">
      <span class="muted">
        {t('mcpIsSet')} <For each={props.names}>{(name) => <code class="set-name">{line(name)}</code>}</For>
      </span>
      <button
        type="button"
        class="small"
        aria-label={`${t('mcpReplace')}: ${props.label}`}
        onClick={() => props.onReplace()}
      >
        {t('mcpReplace')}
      </button>
    </p>
  );
}

function Keep(props: { when: boolean; label: string; onKeep: () => void }): JSX.Element {
  return (
    <Show when={props.when}>
      <button
        type="button"
        class="quiet small"
        aria-label={`${t('mcpKeep')}: ${props.label}`}
        onClick={() => props.onKeep()}
      >
        {t('mcpKeep')}
      </button>
    </Show>
  );
}

interface Choice {
  value: string;
  label: string;
}

/** Some of several, by their values. What is chosen and no longer offered stays chosen. */
export function Choices(props: {
  label: string;
  options: Choice[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}): JSX.Element {
  const all = () => {
    const known = new Set(props.options.map(({ value }) => value));
    const others = props.chosen.filter((value) => !known.has(value));
    return [...props.options, ...others.map((value) => ({ value, label: value }))];
  };
  return (
    <Show when={all().length > 0}>
      <fieldset class="field">
        <legend>{props.label}</legend>
        <div class="choices">
          <Rows each={all()} by={({ value }) => value}>
            {(choice) => (
              <label class="check">
                <input
                  type="checkbox"
                  checked={props.chosen.includes(choice().value)}
                  onChange={(event) =>
                    props.onChange(
                      event.currentTarget.checked
                        ? [...props.chosen, choice().value]
                        : props.chosen.filter((one) => one !== choice().value),
                    )
                  }
                />
                <span>{line(choice().label)}</span>
              </label>
            )}
          </Rows>
        </div>
      </fieldset>
    </Show>
  );
}

/** One of a few. */
export function Segments<T extends string>(props: {
  label: string;
  options: readonly (readonly [value: T, label: string])[];
  value: T;
  onChange: (value: T) => void;
}): JSX.Element {
  const name = createUniqueId();
  return (
    <fieldset>
      <legend>{props.label}</legend>
      <div class="segments">
        <For each={props.options}>
          {([value, label]) => (
            <label>
              <input
                type="radio"
                name={name}
                checked={props.value === value}
                onChange={() => props.onChange(value)}
              />
              <span>{label}</span>
            </label>
          )}
        </For>
      </div>
    </fieldset>
  );
}
