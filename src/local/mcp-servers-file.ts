import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KaiwuError } from '../core/errors.ts';
import type { RunnableServer } from '../core/managed/managed.ts';
import { parseServers } from '../core/managed/parse-config.ts';
import type { Logger } from '../core/ports/host.ts';
import { resolveConfigPath } from './config-path.ts';
import { readTextFile } from './state-file.ts';

/** Milliseconds between looks at the file. Watching misses changes on some file systems, and one look costs nothing. */
const LOOK_MS = 1000;
const FILE_NAME = 'mcp-servers.json';

/** Managed MCP servers of this machine's own: a file that is followed, or a text that was given at the start. */
export interface McpServersFile {
  /** Path, or how the text was given. */
  readonly source: string;
  /** Those of the last version that could be read. Hold secrets. */
  servers(): readonly RunnableServer[];
  /** Why the version of now cannot be used, one sentence without secrets. */
  problem(): string | undefined;
  /** What was left out of it, in plain words. */
  warnings(): readonly string[];
  /** Reads it, and again whenever it changes; `onChange` hears of each other outcome. */
  start(onChange: () => void): Promise<void>;
  close(): void;
}

interface Outcome {
  servers: RunnableServer[];
  problem?: string;
  warnings: string[];
}

/** Whether it is the text of servers itself and no path. */
export const isInlineServers = (given: string): boolean => /^[\s\ufeff]*[[{]/.test(given);

/** @throws invalid_input for a text that holds no servers, before anything is started with it */
export const requireServers = (text: string): void => void parseServers(text);

/** @param options.given path or text in place of `mcp-servers.json` in the configuration's folder */
export function createMcpServersFile(options: {
  folder: string;
  given?: string;
  log: Logger;
}): McpServersFile {
  const { folder, given, log } = options;
  const isInline = given !== undefined && isInlineServers(given);
  const source = isInline ? 'the servers given at the start' : (given ?? join(folder, FILE_NAME));
  let now: Outcome = { servers: [], warnings: [] };
  let seen: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function readText(): Promise<string | undefined> {
    if (given === undefined) return readTextFile(join(folder, FILE_NAME), { own: true });
    if (isInline) return given;
    const text = await readTextFile(await resolveConfigPath(folder, given), { own: false });
    if (text === undefined) throw new KaiwuError('file_not_found', `${given} does not exist.`);
    return text;
  }

  async function toServer(config: RunnableServer['config'], warnings: string[]): Promise<RunnableServer[]> {
    try {
      const paths = { command: config.command, cwd: config.cwd, caFile: config.caFile };
      const resolved = await Promise.all(
        Object.entries(paths).map(async ([field, path]) => {
          // A bare word is looked for on the PATH.
          const isName = path === undefined || (field === 'command' && !path.includes('/'));
          return [field, isName ? path : await resolveConfigPath(folder, path)];
        }),
      );
      const known = resolved.filter(([, path]) => path !== undefined);
      const key = `file:${config.name}`;
      return [{ key, config: { ...config, ...Object.fromEntries(known) } as RunnableServer['config'] }];
    } catch (error) {
      warnings.push(`${config.name} is left out: ${messageOf(error)}`);
      return [];
    }
  }

  async function read(): Promise<Outcome> {
    try {
      const text = await readText();
      if (text === undefined) return { servers: [], warnings: [] };
      const parsed = parseServers(text);
      const warnings = [...parsed.errors, ...parsed.warnings];
      const servers: RunnableServer[] = [];
      for (const config of parsed.servers) servers.push(...(await toServer(config, warnings)));
      return { servers, warnings };
    } catch (error) {
      if (!(error instanceof KaiwuError)) throw error;
      const message = messageOf(error);
      const problem = message.includes(source) ? message : `${source} cannot be used: ${message}`;
      return { servers: now.servers, problem, warnings: [] };
    }
  }

  /** Differs whenever the file may be another one than before. */
  async function stampOf(): Promise<string> {
    try {
      const path = given === undefined ? join(folder, FILE_NAME) : await resolveConfigPath(folder, given);
      const { dev, ino, size, mtimeMs, ctimeMs, mode } = await stat(path);
      return [dev, ino, size, mtimeMs, ctimeMs, mode].join(' ');
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code ?? error);
    }
  }

  /** Answers whether the outcome is another one than before. */
  async function look(): Promise<boolean> {
    const stamp = isInline ? 'given' : await stampOf();
    if (stamp === seen) return false;
    seen = stamp;
    const next = await read();
    if (closed || JSON.stringify(next) === JSON.stringify(now)) return false;
    const before = now;
    now = next;
    const names = next.servers.map(({ config }) => config.name);
    if (next.problem !== undefined && next.problem !== before.problem)
      log.error({ problem: next.problem, servers: names }, 'the MCP servers of this machine cannot be read');
    else log.info({ source, servers: names }, 'the MCP servers of this machine');
    for (const warning of next.warnings) log.warn({ source, warning }, 'an MCP server of this machine');
    return true;
  }

  function follow(onChange: () => void): void {
    timer = setTimeout(() => void lookAndFollow(onChange), LOOK_MS).unref();
  }

  async function lookAndFollow(onChange: () => void): Promise<void> {
    try {
      if (await look()) onChange();
    } catch (error) {
      log.error({ error, source }, 'the MCP servers of this machine cannot be followed');
    }
    if (!closed) follow(onChange);
  }

  return {
    source,
    servers: () => now.servers,
    problem: () => now.problem,
    warnings: () => now.warnings,
    async start(onChange) {
      await look();
      if (!isInline && !closed) follow(onChange);
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
