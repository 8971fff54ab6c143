import type { Places } from './hosts.ts';

/** Forms of most hosts: `${NAME}`, `${env:NAME}`, `${NAME:-default}`, `${workspaceFolder}`, `${input:id}`. */
const COMMON = /\$\{([^}]*)\}/g;

/** What an entry came to, or why it cannot be had. */
export type Filled = { value: unknown } | { reason: string };

/**
 * Fills in what the texts of a value refer to, from this shell and these folders, where that is wanted.
 * @param form how the host writes a reference: one of its groups is what is referred to
 */
export function fillIn(
  value: unknown,
  form: RegExp = COMMON,
  places: Pick<Places, 'home' | 'project' | 'env'>,
  wanted: boolean,
): Filled {
  const missing = new Set<string>();
  const unasked = new Set<string>();
  const fill = (inner: unknown): unknown => {
    if (typeof inner === 'string') {
      return inner.replaceAll(form, (written: string, ...groups: unknown[]) => {
        const name = groups.find((group) => typeof group === 'string') as string;
        const found = resolve(name, places);
        if ('value' in found && wanted) return found.value;
        if ('reason' in found) missing.add(`${written} ${found.reason}`);
        else unasked.add(written);
        return written;
      });
    }
    if (Array.isArray(inner)) return inner.map(fill);
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, fill(one)]));
  };
  const filled = fill(value);
  if (missing.size > 0) return { reason: toShort(missing, '; ') };
  if (unasked.size > 0)
    return { reason: `refers to ${toShort(unasked, ', ')}; --resolve-env fills that in from this shell` };
  return { value: filled };
}

const toShort = (parts: Set<string>, between: string): string => [...parts].slice(0, 5).join(between);

type Resolved = { value: string } | { reason: string };

function resolve(name: string, { home, project, env }: Pick<Places, 'home' | 'project' | 'env'>): Resolved {
  const folders: Record<string, string> = {
    workspaceFolder: project,
    workspaceRoot: project,
    userHome: home,
    pathSeparator: '/',
    '/': '/',
  };
  const folder = folders[name];
  if (folder !== undefined && Object.hasOwn(folders, name)) return { value: folder };
  const [, variable, fallback] = /^(?:env:)?([A-Za-z_]\w*)(?::-([\s\S]*))?$/.exec(name) ?? [];
  if (variable !== undefined) {
    const value = env[variable] ?? fallback;
    return value === undefined ? { reason: 'is not set in this shell' } : { value };
  }
  if (name.startsWith('input:')) return { reason: 'is asked for by the host each time' };
  if (name.startsWith('file:')) return { reason: 'is the content of a file' };
  return { reason: 'is known to the host alone' };
}
