import { type Component, lazy } from 'solid-js';
import type { TextKey } from '../i18n/index.ts';
import type { IconName } from '../ui/icons.tsx';

export interface Page {
  path: string;
  title: TextKey;
  icon: IconName;
  /** Second key after `g`. */
  key: string;
  view: Component;
}

/** The pages, in the order of the navigation. */
export const PAGES: Page[] = [
  {
    path: '/inbox',
    title: 'inbox',
    icon: 'inbox',
    key: 'i',
    view: lazy(() => import('../inbox/inbox-page.tsx')),
  },
  {
    path: '/sessions',
    title: 'sessions',
    icon: 'sessions',
    key: 's',
    view: lazy(() => import('../sessions/sessions-page.tsx')),
  },
];

export const SessionPage = lazy(() => import('../session/session-page.tsx'));

/** The page that an address belongs to. */
export const pageOf = (path: string): Page | undefined =>
  PAGES.find((page) => path === page.path || path.startsWith(`${page.path}/`));
