import { For, type JSX, Show } from 'solid-js';
import { catalogEntry } from '../api/catalog.ts';
import { line, Stranger } from './text.tsx';

const show = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);

/** Every field of an input or an output, in the order in which its action declares them. */
export function Fields(props: {
  values: Record<string, unknown>;
  actionId?: string;
  of?: 'input' | 'output';
}): JSX.Element {
  const entry = () => (props.actionId === undefined ? undefined : catalogEntry(props.actionId));
  const names = () => {
    const schema = props.of === 'output' ? entry()?.outputSchema : entry()?.inputSchema;
    const declared = Object.keys(schema?.properties ?? {}).filter((name) => name in props.values);
    return [...new Set([...declared, ...Object.keys(props.values)])].filter(
      (name) => props.values[name] !== undefined,
    );
  };
  return (
    <Show when={names().length > 0}>
      <dl class="fields">
        <For each={names()}>
          {(name) => (
            <div>
              <dt>{line(name)}</dt>
              <dd>
                <Stranger text={show(props.values[name])} />
              </dd>
            </div>
          )}
        </For>
      </dl>
    </Show>
  );
}
