import { createSignal } from 'solid-js';
import { kept } from '../browser/host.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const [theme, setTheme] = createSignal<Theme>(THEMES.find((name) => name === kept.get('theme')) ?? 'system');
apply(theme());

export { theme };

function apply(name: Theme): void {
  if (name === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

export function chooseTheme(name: Theme): void {
  kept.set('theme', name);
  apply(name);
  setTheme(name);
}
