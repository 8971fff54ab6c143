import { type Accessor, createEffect, createMemo, For, type JSX, on } from 'solid-js';

/**
 * A list whose rows stay the same while what they show is read anew: a half-written answer in a row, or the focus, outlives
 * that, and also that its row comes to stand elsewhere.
 */
export function Rows<T>(props: {
  each: readonly T[];
  /** What tells one row from the others. */
  by: (row: T) => string;
  children: (row: Accessor<T>) => JSX.Element;
}): JSX.Element {
  const found = createMemo(() => new Map(props.each.map((row) => [props.by(row), row])));
  let focused: Element | null = null;
  const ids = createMemo(() => {
    focused = document.activeElement;
    return [...found().keys()];
  });
  createEffect(
    on(ids, () => {
      // An element that is moved in the page loses the focus on its way.
      if (!(focused instanceof HTMLElement) || focused === document.activeElement) return;
      if (document.activeElement === document.body) focused.focus({ preventScroll: true });
    }),
  );
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
