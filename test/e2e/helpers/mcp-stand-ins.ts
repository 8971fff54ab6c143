import { join } from 'node:path';
import { type OAuthWorld, REDIRECT, startOAuthWorld } from '../../managed/oauth-fakes.ts';
import type { Api } from './api.ts';

const FAKE = join(import.meta.dirname, '../../managed/fakes/server.mjs');

/** Real servers for the examples that name one: a program, and an address that wants a sign-in. */
export function createMcpStandIns(api: Api) {
  let count = 0;
  let oauth: Promise<OAuthWorld> | undefined;

  const program = () => ({
    name: `files-${++count}`,
    command: process.execPath,
    args: [FAKE, JSON.stringify({ tools: ['read_file'] })],
  });

  async function added(config: object): Promise<string> {
    return (await api.output('mcp.server.add', config)).name as string;
  }

  async function begun() {
    oauth ??= startOAuthWorld();
    const { mcp, auth } = await oauth;
    const name = await added({ name: `home-${++count}`, url: mcp.url });
    return { name, auth };
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- each knows its own example
  const preparations: Record<string, (input: any) => Promise<unknown>> = {
    // Nothing listens there: it is added all the same, and says so.
    'mcp.server.add': async ({ url, ...input }) =>
      url === undefined
        ? { ...input, ...program() }
        : { ...input, name: `home-${++count}`, url: 'http://127.0.0.1:9/' },
    'mcp.server.login.begin': async () => ({ name: (await begun()).name, redirectUri: REDIRECT }),
    'mcp.server.login.complete': async () => {
      const { name, auth } = await begun();
      const { authorizationUrl } = await api.output('mcp.server.login.begin', {
        name,
        redirectUri: REDIRECT,
      });
      return auth.consent(authorizationUrl as string);
    },
    'mcp.tool.accept': async () => {
      const server = await added(program());
      const { tools } = await api.output('mcp.tool.list', { server });
      return {
        server,
        tools: (tools as { name: string; digest: string }[]).map(({ name, digest }) => ({ name, digest })),
      };
    },
  };
  for (const verb of ['get', 'update', 'remove', 'enable', 'disable', 'test']) {
    preparations[`mcp.server.${verb}`] = async (input) => ({ ...input, name: await added(program()) });
  }

  return {
    preparations,
    /** Ends what the examples signed in to. */
    end: async () => (await oauth)?.close(),
  };
}
