import { createUniqueId, For, type JSX, Match, Show, Switch } from 'solid-js';
import type { ActionManifest, JsonSchema } from '../../core/spec.ts';
import { createAsked } from '../api/asked.ts';
import { actions } from '../api/call.ts';
import { t, tOr } from '../i18n/index.ts';
import type { FormValues } from './action-form.tsx';
import { line } from './text.tsx';

interface Option {
  value: string;
  label: string;
}

/** One field: a choice where its action knows the values, else what its schema asks for. */
export function FormField(props: {
  action: ActionManifest;
  name: string;
  schema: JsonSchema;
  values: FormValues;
  onChange: (value: unknown) => void;
}): JSX.Element {
  const id = createUniqueId();
  const hint = () => props.action.hints?.[props.name];
  const isNeeded = (name: string) => props.action.inputSchema.required?.includes(name) === true;
  const isRequired = () => isNeeded(props.name);
  const label = () => tOr(`field_${props.name}`, hint()?.label ?? props.name);
  /** The fields that this one's options depend on: asked again when one of them changes. */
  const depends = () => {
    const { options } = hint() ?? {};
    if (options === undefined) return undefined;
    const names = Object.values(options.input ?? {}).filter((value) => String(value).startsWith('$'));
    const fields = names.map((name) => String(name).slice(1));
    const known = fields.filter((name) => props.values[name] !== undefined);
    // What the form itself requires has to be there first: models are those of an agent.
    if (fields.some((name) => !known.includes(name) && isNeeded(name))) return undefined;
    return JSON.stringify(Object.fromEntries(known.map((name) => [name, props.values[name]])));
  };
  const found = createAsked(depends, async (input): Promise<Option[]> => {
    const { id: actionId } = props.action;
    const outcome = await actions.action.options.resolve({
      actionId,
      field: props.name,
      input: JSON.parse(input) as FormValues,
    });
    return outcome.status === 'ok' ? outcome.output.options : [];
  });
  const options = (): Option[] =>
    props.schema.enum !== undefined && hint()?.options === undefined
      ? props.schema.enum.map((value) => ({ value, label: value }))
      : found.loading()
        ? []
        : (found.data() ?? []);
  const isChoice = () =>
    props.schema.enum !== undefined || hint()?.widget === 'select' || hint()?.widget === 'session';
  const value = () => props.values[props.name];
  const text = () => (typeof value() === 'string' ? (value() as string) : '');
  const setText = (text: string) => props.onChange(text === '' ? undefined : text);

  return (
    <Show
      when={props.schema.type !== 'boolean'}
      fallback={
        <label class="check">
          <input
            type="checkbox"
            checked={value() === true}
            onChange={(event) => props.onChange(event.currentTarget.checked || undefined)}
          />
          <span>{label()}</span>
        </label>
      }
    >
      <div class="field">
        <label for={id}>
          {label()} <Show when={!isRequired()}>{<span class="muted">({t('optional')})</span>}</Show>
        </label>
        <Switch>
          <Match when={isChoice()}>
            <select id={id} required={isRequired()} onChange={(event) => setText(event.currentTarget.value)}>
              <option value="" selected={value() === undefined}>
                {isRequired() ? t('chooseOne') : t('defaultValue')}
              </option>
              <For each={options()}>
                {(option) => (
                  <option value={option.value} selected={value() === option.value}>
                    {line(option.label)}
                  </option>
                )}
              </For>
            </select>
          </Match>
          <Match when={hint()?.widget === 'multiline'}>
            <textarea id={id} rows="3" onInput={(event) => setText(event.currentTarget.value)} />
          </Match>
          <Match
            when={
              hint()?.widget === 'json' || props.schema.type === 'object' || props.schema.type === 'array'
            }
          >
            <textarea
              id={id}
              rows="2"
              spellcheck={false}
              onInput={({ currentTarget }) => {
                const { value: text } = currentTarget;
                const parsed = text.trim() === '' ? {} : parse(text);
                currentTarget.setCustomValidity(parsed === undefined ? t('notJson') : '');
                if (parsed !== undefined) props.onChange(text.trim() === '' ? undefined : parsed);
              }}
            />
          </Match>
          <Match when={true}>
            <input
              id={id}
              type="text"
              required={isRequired()}
              value={text()}
              list={options().length > 0 ? `${id}-options` : undefined}
              autocomplete="off"
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <Show when={options().length > 0}>
              <datalist id={`${id}-options`}>
                <For each={options()}>{(option) => <option value={option.value} />}</For>
              </datalist>
            </Show>
          </Match>
        </Switch>
      </div>
    </Show>
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
