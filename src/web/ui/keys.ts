import { onCleanup, onMount } from 'solid-js';

type Handler = (event: KeyboardEvent) => void;

/** Newest first: a dialog's keys come before those of the page below it. */
const layers: Record<string, Handler>[] = [];
let prefix = '';
let timer: ReturnType<typeof setTimeout> | undefined;

/** Somebody writes in a field and did not end it. If it goes away meanwhile, what is typed on is still meant for it. */
let writing = false;
addEventListener('pointerdown', () => {
  writing = false;
});
addEventListener('focusin', () => {
  writing = false;
});

/** Milliseconds between the two keys of `g i`. */
const PREFIX_MS = 2000;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type));

addEventListener('keydown', (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
  if (isTyping(event.target) || (writing && event.target === document.body)) {
    writing = !/^(Enter|Escape|Tab)$/.test(event.key);
    return;
  }
  if (event.defaultPrevented) return;
  if (document.querySelector('dialog[open]') !== null) return;
  const typed = prefix === '' ? event.key : `${prefix} ${event.key}`;
  prefix = '';
  clearTimeout(timer);
  const handler = layers.find((layer) => typed in layer)?.[typed];
  if (handler !== undefined) {
    event.preventDefault();
    handler(event);
  } else if (layers.some((layer) => Object.keys(layer).some((key) => key.startsWith(`${typed} `)))) {
    prefix = typed;
    timer = setTimeout(() => {
      prefix = '';
    }, PREFIX_MS);
  }
});

/** Keys that work while a part of the page is shown. Not while somebody types, nor over a dialog. */
export function useKeys(keys: Record<string, Handler>): void {
  onMount(() => layers.unshift(keys));
  onCleanup(() => {
    const at = layers.indexOf(keys);
    // A part that goes away before it was ever shown has no layer yet.
    if (at >= 0) layers.splice(at, 1);
  });
}

/** Moves the focus by so many among what a selector finds on the page; from elsewhere to the first. */
export function moveAmong(selector: string, by: number): void {
  const all = [...document.querySelectorAll<HTMLElement>(selector)];
  const at = all.findIndex((each) => each.contains(document.activeElement));
  all[Math.min(Math.max(at + by, 0), all.length - 1)]?.focus();
}
