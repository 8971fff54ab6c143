import { parseArgs } from 'node:util';
import { AGENT_SESSION_VARIABLE } from '../core/agent-mark.ts';
import { KaiwuError } from '../core/errors.ts';
import type { Channel } from '../local/home.ts';
import { type App, createApp } from './app.ts';
import {
  credentialsOf,
  optional,
  requireCredentials,
  resolveTarget,
  type ServerFlags,
  type Target,
} from './connection.ts';
import { complain, createStderrLog, runMcpProcess } from './mcp-process.ts';
import { createConnect, createToolsCache, readBuiltin, readBuiltinAnswers } from './mcp-sources.ts';

interface McpFlags extends ServerFlags {
  session?: string;
}

/**
 * `kaiwu mcp serve`: this process as the MCP server of the host that started it. The backend is the one of the flags, else of
 * the active profile at the start; no environment variable chooses it.
 * @param args the whole command line after the program's name
 */
export async function runMcp(channel: Channel, args: readonly string[]): Promise<never> {
  try {
    const app = createApp(channel, process.env);
    const flags = readFlags(args);
    const session = app.env[AGENT_SESSION_VARIABLE] || undefined;
    const surface = session === undefined ? 'mcp' : 'agent';
    const target = await resolveTarget(app, flags, false);
    // A keyring may be slow to answer; whether anybody signed in at all need not be.
    if ((await credentialsOf(app, target).place()) !== 'keyring') await requireCredentials(app, target);
    return await runMcpProcess(createStderrLog(app.env.KAIWU_LOG === 'debug' ? 'debug' : 'warn'), {
      connect: createConnect(app, target),
      builtin: readBuiltin,
      builtinAnswers: readBuiltinAnswers,
      toolsCache: createToolsCache(target, surface),
      version: app.version,
      random: Math.random,
      describeDaemon: () => describeDaemon(app, target),
      ...optional('defaultSessionId', flags.session ?? session),
      surface,
      ...optional('machineId', target.machineId),
    });
  } catch (error) {
    return process.exit(complain(error));
  }
}

function readFlags(args: readonly string[]): McpFlags {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { server: text, 'server-url': text, 'webapp-url': text, session: text },
      allowPositionals: true,
    });
    return {
      ...optional('server', values.server),
      ...optional('serverUrl', values['server-url']),
      ...optional('webappUrl', values['webapp-url']),
      ...optional('session', values.session),
    };
  } catch (error) {
    throw new KaiwuError('invalid_input', `mcp serve cannot start: ${(error as Error).message}`, {
      hint: 'It takes --server NAME, --server-url URL, --webapp-url URL and --session ID.',
    });
  }
}

/** What this machine knows of its daemon, beside the backend's word that it is not there. */
async function describeDaemon(app: App, target: Target): Promise<string> {
  const { daemonSummary } = await import('./daemon-control.ts');
  const { state, pid, note } = await daemonSummary(app, target);
  const what = `The daemon of this machine is ${state}${pid === undefined ? '' : ` (pid ${pid})`}.`;
  return note === undefined ? what : `${what} ${note}`;
}
