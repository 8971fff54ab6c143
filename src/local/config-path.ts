import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { KaiwuError } from '../core/errors.ts';

/**
 * A path as people write it in a configuration, absolute. Relative ones are taken from the configuration's folder and may not
 * leave it, neither by their words nor by a link on the way; absolute ones and those of the home (`~/`) may lie anywhere.
 * @throws invalid_input for one that leaves the folder
 */
export async function resolveConfigPath(folder: string, given: string): Promise<string> {
  if (given === '~' || given.startsWith('~/')) return join(homedir(), given.slice(2));
  if (isAbsolute(given)) return given;
  const path = resolve(folder, given);
  const isIn = isInside(path, folder) && isInside(await realOf(path), await realOf(folder));
  if (isIn) return path;
  throw new KaiwuError(
    'invalid_input',
    `${JSON.stringify(given.slice(0, 200))} leaves the folder of the configuration, ${folder}.`,
    { hint: 'Put the file into that folder, or write an absolute path or one that begins with ~/.' },
  );
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** With all links followed, as far as the path is there. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realOf(parent), relative(parent, path));
  }
}
