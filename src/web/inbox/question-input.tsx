import { createUniqueId, For, type JSX, Match, Show, Switch } from 'solid-js';
import type { QuestionField } from '../../core/session.ts';
import { line } from '../ui/text.tsx';

export type QuestionValue = string | number | boolean | string[];

/** One field of a question's form. */
export function QuestionInput(props: {
  field: QuestionField;
  onChange: (value: QuestionValue | undefined) => void;
}): JSX.Element {
  const id = createUniqueId();
  const label = () => line(props.field.title ?? props.field.name);
  const chosen = new Set<string>();
  const isNumber = () => props.field.type === 'number' || props.field.type === 'integer';
  return (
    <div class="field">
      <Switch>
        <Match when={props.field.type === 'boolean'}>
          <label class="check">
            <input type="checkbox" onChange={(event) => props.onChange(event.currentTarget.checked)} />
            <span>{label()}</span>
          </label>
        </Match>
        <Match when={props.field.type === 'choice' || props.field.type === 'choices'}>
          <fieldset>
            <legend>{label()}</legend>
            <For each={props.field.options}>
              {(option) => (
                <label class="check">
                  <input
                    type={props.field.type === 'choice' ? 'radio' : 'checkbox'}
                    name={id}
                    required={props.field.type === 'choice' && props.field.required}
                    onChange={(event) => {
                      if (props.field.type === 'choice') return props.onChange(option.id);
                      if (event.currentTarget.checked) chosen.add(option.id);
                      else chosen.delete(option.id);
                      props.onChange([...chosen]);
                    }}
                  />
                  <span>{line(option.name)}</span>
                </label>
              )}
            </For>
          </fieldset>
        </Match>
        <Match when={true}>
          <label for={id}>{label()}</label>
          <input
            id={id}
            type={isNumber() ? 'number' : 'text'}
            step={props.field.type === 'integer' ? '1' : 'any'}
            required={props.field.required}
            aria-describedby={props.field.description === undefined ? undefined : `${id}-help`}
            onInput={({ currentTarget: { value, valueAsNumber } }) =>
              props.onChange(value === '' ? undefined : isNumber() ? valueAsNumber : value)
            }
          />
        </Match>
      </Switch>
      <Show when={props.field.description}>
        {(help) => (
          <p class="muted" id={`${id}-help`}>
            {line(help())}
          </p>
        )}
      </Show>
    </div>
  );
}
