import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AGENT_SESSION_VARIABLE } from '../core/agent-mark.ts';
import type { BackendClient } from '../core/client.ts';
import { KaiwuError } from '../core/errors.ts';
import type { ActionManifest } from '../core/spec.ts';
import type { Channel } from '../local/home.ts';
import { readTextFile, writeStateFile } from '../local/state-file.ts';
import type { SeenCatalog, ToolsCache } from '../surfaces/mcp/tool-list.ts';
import { type App, createApp } from './app.ts';
import {
  credentialsOf,
  openBackend,
  optional,
  requireCredentials,
  resolveTarget,
  type ServerFlags,
  type Target,
} from './connection.ts';
import { complain, createStderrLog, runMcpProcess } from './mcp-process.ts';

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
      connect: createConnect(app, flags, target),
      builtin: readBuiltin,
      toolsCache: createToolsCache(join(target.paths.folder, `tools-${surface}.json`)),
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

/** Reads anew where the backend is and who is signed in, and answers the same client while neither has changed. */
function createConnect(app: App, flags: McpFlags, first: Target): () => Promise<BackendClient> {
  // A host keeps the profile that it was started with, whichever becomes the active one.
  const pinned: ServerFlags = flags.serverUrl === undefined ? { server: first.profile } : flags;
  let last: { key: string; client: BackendClient } | undefined;
  return async () => {
    const target = await resolveTarget(app, pinned, false);
    const { credentials, credentialStore } = target.paths;
    const stamps = await Promise.all([credentials, credentialStore].map(stampOf));
    const key = JSON.stringify([target.url, target.caFile, stamps]);
    if (last?.key !== key) last = { key, client: await openBackend(app, target) };
    return last.client;
  };
}

/** Differs whenever the file was written anew. */
async function stampOf(path: string): Promise<string | undefined> {
  const info = await stat(path).catch(() => undefined);
  return info && `${info.ino} ${info.mtimeMs} ${info.size}`;
}

/** The actions of this version, written beside the bundles when they were built. */
async function readBuiltin(): Promise<ActionManifest[]> {
  return JSON.parse(await readFile(new URL('./catalog.json', import.meta.url), 'utf8')) as ActionManifest[];
}

function createToolsCache(path: string): ToolsCache {
  return {
    async read() {
      const text = await readTextFile(path, { own: true });
      return text === undefined ? undefined : (JSON.parse(text) as SeenCatalog);
    },
    write: (seen) => writeStateFile(path, seen),
  };
}

/** What this machine knows of its daemon, beside the backend's word that it is not there. */
async function describeDaemon(app: App, target: Target): Promise<string> {
  const { daemonSummary } = await import('./daemon-control.ts');
  const { state, pid, note } = await daemonSummary(app, target);
  const what = `The daemon of this machine is ${state}${pid === undefined ? '' : ` (pid ${pid})`}.`;
  return note === undefined ? what : `${what} ${note}`;
}
