import { actions, must, type OutputOf } from '../../api/call.ts';
import type { News } from '../../api/feed.ts';
import { createLive, type Live } from '../../api/live.ts';

export type Server = OutputOf<typeof actions.mcp.server.get>;
export type Tool = OutputOf<typeof actions.mcp.tool.list>['tools'][number];

/** Where a server with an address runs, and any other may. */
export const BACKEND = 'backend';

export const createServers = (): Live<Server[]> =>
  createLive(
    async () => (await must(actions.mcp.server.list({}))).servers,
    ({ type }) => type === 'mcp_server.changed' || type === 'catalog.changed' || type === 'machine.changed',
  );

/** News of a server's tools. */
export const isNewsOf = (name: string, news: News): boolean =>
  news.type === 'catalog.changed' || (news.type === 'mcp_server.changed' && news.name === name);

/** Whether it is written in a machine's file, and still there: then it is changed only there. */
export const isOfFile = ({ source, status, reason }: Server): boolean =>
  source === 'file' && !(status === 'disabled' && reason !== undefined);

/** Whether a person can sign in to it: OAuth is for addresses that the backend itself asks, without a token. */
export const canSignIn = ({ where, config, secrets }: Server): boolean =>
  where === BACKEND && config.url !== undefined && !secrets.includes('token');
