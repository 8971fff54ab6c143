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
  {
    path: '/files',
    title: 'files',
    icon: 'files',
    key: 'f',
    view: lazy(() => import('../files/files-page.tsx')),
  },
  {
    path: '/settings/actions',
    title: 'actions',
    icon: 'actions',
    key: 'a',
    view: lazy(() => import('../settings/actions-page.tsx')),
  },
  {
    path: '/settings/mcp-servers',
    title: 'mcpServers',
    icon: 'plug',
    key: 't',
    view: lazy(() => import('../settings/mcp/servers-page.tsx')),
  },
  {
    path: '/settings/providers',
    title: 'providers',
    icon: 'search',
    key: 'w',
    view: lazy(() => import('../settings/providers/providers-page.tsx')),
  },
  {
    path: '/machines',
    title: 'machines',
    icon: 'machines',
    key: 'm',
    view: lazy(() => import('../machines/machines-page.tsx')),
  },
  {
    path: '/runs',
    title: 'runs',
    icon: 'runs',
    key: 'r',
    view: lazy(() => import('../runs/runs-page.tsx')),
  },
  {
    path: '/audit',
    title: 'audit',
    icon: 'audit',
    key: 'u',
    view: lazy(() => import('../audit/audit-page.tsx')),
  },
  {
    path: '/devices',
    title: 'devices',
    icon: 'devices',
    key: 'd',
    view: lazy(() => import('../devices/devices-page.tsx')),
  },
];

/** Where a browser comes back to after signing in to an MCP server. */
export const SignedInPage = lazy(() => import('../settings/mcp/signed-in-page.tsx'));

export const SessionPage = lazy(() => import('../session/session-page.tsx'));

/** The page that an address belongs to. */
export const pageOf = (path: string): Page | undefined =>
  PAGES.find((page) => path === page.path || path.startsWith(`${page.path}/`));
