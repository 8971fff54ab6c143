import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';

/** Whether every path lies inside one of the folders when all links are followed, and outside git's own files. */
export async function allInside(paths: string[], directory: string, folders: string[]): Promise<boolean> {
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  for (const path of paths) {
    // Some tools put a home folder or a variable in the place of these.
    if (/^[~$]/.test(path)) return false;
    // A tool may follow a link before it goes up, or go up first: both have to stay inside.
    const readings = [isAbsolute(path) ? path : `${directory}${sep}${path}`, resolve(directory, path)];
    for (const reading of readings) {
      const real = await realOf(reading);
      if (real === undefined || !roots.some((root) => root !== undefined && lies(real, root))) return false;
    }
  }
  return true;
}

/** What git runs is not edited unasked: a hook written here is a command that runs elsewhere. */
const lies = (real: string, root: string): boolean =>
  (real === root || real.startsWith(root === sep ? sep : root + sep)) &&
  !real.slice(root.length).toLowerCase().split(sep).includes('.git');

/** Where a path leads, of which the last parts need not be there yet. Undefined where that cannot be told. */
async function realOf(path: string): Promise<string | undefined> {
  let at: string = sep;
  const parts = path.split(sep).filter((part) => part !== '' && part !== '.');
  for (const [i, part] of parts.entries()) {
    if (part === '..') {
      at = dirname(at);
      continue;
    }
    const next = join(at, part);
    try {
      at = await realpath(next);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return undefined;
      // A link whose target is missing would be created elsewhere.
      if ((await lstat(next).catch(() => undefined)) !== undefined) return undefined;
      const rest = parts.slice(i);
      return rest.includes('..') ? undefined : join(at, ...rest);
    }
  }
  return at;
}
