import { KaiwuError } from '../../core/errors.ts';
import type { RunnableServer } from '../../core/managed/managed.ts';
import { toServerUrl, toShownAddress } from '../http/address.ts';

/** A server that lets nobody in. @param why a part of a sentence: "it refuses …" */
export function signInNeeded({ config }: RunnableServer, why: string, canSignIn: boolean): KaiwuError {
  const at = toShownAddress(toServerUrl(config.url ?? ''));
  const ownToken = (config.token ?? '') !== '';
  const signIn = `Sign in to it: Settings > MCP servers, or \`kaiwu mcp servers login ${config.name}\`.`;
  return new KaiwuError(
    'mcp_sign_in_needed',
    `The MCP server ${config.name} (${at}) needs a sign-in: ${why}.`,
    {
      hint: canSignIn && !ownToken ? signIn : 'Set its `token` to one that the server takes.',
      details: { server: config.name },
    },
  );
}
