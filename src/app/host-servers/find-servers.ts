import { basename, resolve } from 'node:path';
import { KaiwuError } from '../../core/errors.ts';
import type { ServerConfig } from '../../core/managed/config.ts';
import { parseServers } from '../../core/managed/parse-config.ts';
import { show } from '../../core/managed/read-servers.ts';
import { CHANNELS } from '../../local/home.ts';
import { readTextFile } from '../../local/state-file.ts';
import type { HostName } from './host-names.ts';
import { type Fields, type Found, type Host, HOSTS, type Places } from './hosts.ts';
import { fillIn } from './references.ts';

/** A server of a host's file that can be taken. Holds secrets. */
export interface Takeable {
  config: ServerConfig & { name: string };
  /** File that it is from. */
  from: string;
  /** What is odd about it. */
  notes: string[];
}

/** One that cannot, or is not. */
export interface Skipped {
  name: string;
  from: string;
  reason: string;
}

export interface HostServers {
  servers: Takeable[];
  skipped: Skipped[];
  /** Files that were looked for, and what was wrong with those that could not be used. */
  files: { path: string; found: boolean; problem?: string }[];
}

interface Options extends Places {
  /** Fill in what values refer to. */
  resolveEnv: boolean;
  /** Program of ours: an entry that starts it is Kaiwu itself. */
  binary: string;
}

/** Servers of a host's own files on this machine, those of the project before those of the person. */
export async function findServers(name: HostName, options: Options): Promise<HostServers> {
  const host = HOSTS[name];
  const all: HostServers = { servers: [], skipped: [], files: [] };
  for (const { path, scope } of host.files(options)) {
    const file: HostServers['files'][number] = { path, found: true };
    all.files.push(file);
    try {
      const text = await readTextFile(path, { own: false });
      file.found = text !== undefined;
      if (text === undefined) continue;
      for (const found of toFound(host, host.read(text), scope, options))
        takeIn(all, host, path, found, options);
    } catch (error) {
      if (!(error instanceof KaiwuError)) throw error;
      file.problem = error.message;
    }
  }
  return all;
}

/** The same of a text that a person gave, in the format of any host. */
export function findInText(text: string, from: string, options: Options): HostServers {
  const all: HostServers = { servers: [], skipped: [], files: [{ path: from, found: true }] };
  const { servers, warnings, errors } = parseServers(text);
  for (const { name, ...entry } of servers) take(all, { name, entry, from }, options);
  const told = [...errors, ...warnings].map((reason) => ({ name: '', from, reason }));
  all.skipped.push(...told);
  return all;
}

function toFound(host: Host, value: unknown, scope: Found['scope'], places: Places): Found[] {
  return host.within(places).flatMap((place): Found[] => {
    const at = place.path.reduce<unknown>(
      (inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
      value,
    );
    return isRecord(at) ? [{ scope: place.scope ?? scope, servers: at }] : [];
  });
}

function takeIn(all: HostServers, host: Host, from: string, { scope, servers }: Found, options: Options) {
  for (const [name, written] of Object.entries(servers)) {
    if (!isRecord(written)) {
      all.skipped.push({ name: show(name), from, reason: 'is no object' });
      continue;
    }
    const entry = host.toEntry?.(written) ?? written;
    take(
      all,
      { name, entry, from, folder: scope === 'project' ? options.project : undefined },
      options,
      host,
    );
  }
}

interface Entry {
  name: string;
  entry: Fields;
  from: string;
  /** Folder that the host starts it in. */
  folder?: string | undefined;
}

function take(all: HostServers, { name, entry, from, folder }: Entry, options: Options, host?: Host): void {
  const skip = (reason: string) => void all.skipped.push({ name: show(name), from, reason });
  if (isOurs(entry, options.binary)) return skip('is Kaiwu itself');
  const filled = fillIn(entry, host?.references, options, options.resolveEnv);
  if ('reason' in filled) return skip(filled.reason);
  const { servers, errors, warnings } = parseServers(
    JSON.stringify({ mcpServers: { [name]: filled.value } }),
  );
  const prefix = `Entry 1 (${show(name)}): `;
  const notes = [...errors, ...warnings].map((note) =>
    (note.startsWith(prefix) ? note.slice(prefix.length) : note).replace(/\.$/, ''),
  );
  const [config] = servers;
  if (config === undefined) return skip(notes.join('; ') || 'is no server');
  const twin = all.servers.find((other) => other.config.name.toLowerCase() === config.name.toLowerCase());
  if (twin !== undefined) return skip(`has the name of one in ${twin.from}, which wins`);
  all.servers.push({ config: folder === undefined ? config : startedIn(config, folder), from, notes });
}

/** A program of a project is started in it, and its relative paths are meant from there. */
function startedIn(config: Takeable['config'], folder: string): Takeable['config'] {
  const { command, cwd = '.' } = config;
  if (command === undefined) return config;
  const isPath = command.includes('/') && !command.startsWith('~');
  const place = cwd.startsWith('~') ? cwd : resolve(folder, cwd);
  return { ...config, cwd: place, command: isPath ? resolve(folder, command) : command };
}

/** Kaiwu among the servers of a host: taken in, its tools would stand for themselves. */
function isOurs(entry: Fields, binary: string): boolean {
  const { command, args } = entry;
  const words = [command, args].flat().filter((word) => typeof word === 'string');
  const isServe = words.some((word, i) => word === 'mcp' && /^(serve|start)$/.test(words[i + 1] ?? ''));
  const names: readonly string[] = CHANNELS;
  return (
    isServe &&
    words.some((word) => word === binary || names.includes(basename(word).replace(/\.(cmd|exe)$/, '')))
  );
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
