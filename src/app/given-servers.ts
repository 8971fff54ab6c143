import { isInlineServers, requireServers } from '../local/mcp-servers-file.ts';
import type { App } from './app.ts';
import { text } from './commands/local-command.ts';

/** Variable that says the same as the flag, and by which it reaches the daemon: a list of processes shows no environment. */
const VARIABLE = 'KAIWU_MCP_SERVERS';

/** The flag of every command that starts a daemon. */
export const MCP_SERVERS_FIELD = {
  mcpServers: text(
    `Managed MCP servers of this machine: a path (relative ones from the profile's folder) or JSON, in place of the profile's mcp-servers.json. Or ${VARIABLE}.`,
  ),
};

/** What was given by flag or variable. @throws invalid_input for JSON that holds no servers */
export function givenServers(app: App, input: Record<string, unknown>): string | undefined {
  const given = ((input.mcpServers as string | undefined) ?? app.env[VARIABLE]) || undefined;
  if (given !== undefined && isInlineServers(given)) requireServers(given);
  return given;
}

/** Environment of a daemon that is started with them. */
export const withGivenServers = (env: NodeJS.ProcessEnv, given: string | undefined): NodeJS.ProcessEnv =>
  given === undefined ? env : { ...env, [VARIABLE]: given };
