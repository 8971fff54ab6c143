import { fileURLToPath } from 'node:url';
import type { Json } from '../acp/json.ts';

/** How deep and how far the input of a tool call is searched. What is larger counts as naming nothing. */
const MAX_DEPTH = 6;
const MAX_PATHS = 200;

/** Names under which agents put the files that a tool is to change, in small letters alone. */
const PATH_NAMES =
  /^(abs|absolute|rel|relative|full|file|target|notebook|source|src|destination|dest|old|new|working|workspace|root|output|input)*(path|file|filename|directory|dir|folder|uri)s?$|^(from|to|source|src|destination|dest|cwd|workdir)$/;
/** An object under this name has paths for its keys. */
const KEYED_BY_PATH = new Set(['changes', 'file_changes', 'fileChanges']);
/** Files of a patch that comes as one text. */
const PATCH_LINE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;

/**
 * Every path that a tool call names: its locations, its diffs, and what its input says. Undefined where it names none,
 * or more than are worth checking.
 */
export function pathsOf(call: Json): string[] | undefined {
  const paths = new Set<string>();
  for (const part of [call.locations, call.content]) {
    for (const entry of Array.isArray(part) ? part : []) {
      if (isObject(entry) && typeof entry.path === 'string') paths.add(entry.path);
    }
  }
  const whole = collect(call.rawInput, paths, 0);
  if (!whole || paths.size === 0 || paths.size > MAX_PATHS) return undefined;
  return [...paths].map(toPath);
}

/** Answers whether all of it was looked at. */
function collect(value: unknown, paths: Set<string>, depth: number): boolean {
  if (depth > MAX_DEPTH) return !(isObject(value) || Array.isArray(value));
  if (typeof value === 'string') {
    for (const [, path] of value.matchAll(PATCH_LINE)) if (path !== undefined) paths.add(path.trim());
    return true;
  }
  if (Array.isArray(value)) return value.every((entry) => collect(entry, paths, depth + 1));
  if (!isObject(value)) return true;
  return Object.entries(value).every(([name, entry]) => {
    if (PATH_NAMES.test(name.replaceAll(/[_-]/g, '').toLowerCase())) {
      for (const path of [entry].flat()) if (typeof path === 'string' && path !== '') paths.add(path);
    }
    if (KEYED_BY_PATH.has(name) && isObject(entry)) for (const path of Object.keys(entry)) paths.add(path);
    return collect(entry, paths, depth + 1);
  });
}

function toPath(path: string): string {
  if (!path.startsWith('file:')) return path;
  try {
    return fileURLToPath(path);
  } catch {
    return path;
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
