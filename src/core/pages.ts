/** Paths of the app's pages: the backend serves the app under them, the app shows the page. `/*` stands for one more part. */
export const PAGE_PATHS = [
  '/',
  '/inbox',
  '/sessions',
  '/sessions/*',
  '/files',
  '/settings/actions',
  '/settings/mcp-servers',
  '/settings/mcp-servers/signed-in',
  '/settings/providers',
  '/machines',
  '/audit',
  '/devices',
  '/runs',
] as const;

/** Header of the app's own requests: the half of its sign-in that the page keeps, where no other page can read it. */
export const PAGE_HEADER = 'x-kaiwu-page';
