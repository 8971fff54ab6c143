import { type Accessor, createMemo, For, type JSX } from 'solid-js';

/**
 * A list whose rows stay the same while what they show is read anew: a half-written answer in a row, or the focus, outlives
 * that.
 */
export function Rows<T>(props: {
  each: readonly T[];
  /** What tells one row from the others. */
  by: (row: T) => string;
  children: (row: Accessor<T>) => JSX.Element;
}): JSX.Element {
  const found = createMemo(() => new Map(props.each.map((row) => [props.by(row), row])));
  const ids = createMemo(() => [...found().keys()]);
  return (
    <For each={ids()}>
      {(id) => {
        // A row that is just going away shows what it last was.
        const row = createMemo((before: T | undefined) => found().get(id) ?? before);
        return props.children(row as Accessor<T>);
      }}
    </For>
  );
}
