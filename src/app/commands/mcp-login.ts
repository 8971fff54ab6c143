import { toVisibleText } from '../../core/visible-text.ts';
import type { Command } from '../../surfaces/cli/command.ts';
import { type CliIo, write } from '../../surfaces/cli/io.ts';
import type { App } from '../app.ts';
import { openLink } from '../open-link.ts';
import { listenForSignIn } from '../sign-in-callback.ts';
import { call, commandAt } from './catalog-calls.ts';
import { count, flag, toLocalCommand } from './local-command.ts';

/** Seconds for a person to sign in; the backend forgets it after ten minutes. */
const WAIT_SECONDS = 300;

/** `kaiwu mcp servers login`: a sign-in in a browser, whose answer comes back to this command. */
export function mcpLogin(app: App, io: CliIo, catalog: readonly Command[]): Command {
  const begin = commandAt(catalog, 'mcp server login begin');
  const complete = commandAt(catalog, 'mcp server login complete');
  return toLocalCommand({
    path: 'mcp servers login',
    summary: 'Sign in to an MCP server with OAuth, in a browser on this machine.',
    description:
      'The browser comes back to an address of this machine that is good once. Tokens are kept sealed by the backend and renewed there. On a machine without a browser: --no-open prints the link, and `ssh -L PORT:127.0.0.1:PORT` with the port that is printed brings the way back to yours.',
    fields: {
      name: { type: 'string', description: 'Name of the server.' },
      open: { ...flag('Open the link in a browser. --no-open prints it.'), default: true },
      timeoutSeconds: { ...count('Seconds to wait for the sign-in, at most 600.', WAIT_SECONDS) },
    },
    positionals: ['name'],
    required: ['name'],
    examples: [{ title: 'Sign in', input: { name: 'home' } }],
    errors: [...new Set([...begin.errors, ...complete.errors, 'canceled' as const])],
    talks: true,
    async run({ name, open, timeoutSeconds = WAIT_SECONDS }, invocation) {
      const callback = await listenForSignIn();
      const { redirectUri } = callback;
      try {
        const begun = await call(catalog, begin.path, { name, redirectUri }, invocation);
        const { authorizationUrl, state } = begun as { authorizationUrl: string; state: string };
        void showLink(app, io, { url: authorizationUrl, redirectUri, open: open !== false });
        const timeoutMs = Math.min(600, Math.max(1, timeoutSeconds as number)) * 1000;
        const returned = await callback.wait(state, { timeoutMs, signal: invocation.signal });
        const server = await call(catalog, complete.path, { ...returned }, invocation);
        await callback.end(`You are signed in to ${toVisibleText(String(name))}. This window can be closed.`);
        return server;
      } finally {
        await callback.end('The sign-in failed. The terminal says why; this window can be closed.');
      }
    },
    toText: ({ name, status }) => `Signed in to ${toVisibleText(String(name))}; it is ${String(status)}.`,
  });
}

/** Opens the link; prints it where that is wanted, or where no browser took it. */
async function showLink(
  app: App,
  io: CliIo,
  { url, redirectUri, open }: { url: string; redirectUri: string; open: boolean },
): Promise<void> {
  const opening = open ? await openLink(app, url) : undefined;
  if (opening !== undefined)
    await write(io.stderr, 'Waiting for the sign-in in your browser. Ctrl-C ends it.\n');
  if ((await opening?.taken) === true) return;
  const { port } = new URL(redirectUri);
  await write(
    io.stderr,
    `Open this link on this machine to sign in (it comes back to port ${port}):\n${toVisibleText(url)}\n`,
  );
}
