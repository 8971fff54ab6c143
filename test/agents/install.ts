import { execFile } from 'node:child_process';
import { access, constants, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Recipe } from './recipe.ts';

const run = promisify(execFile);

/** Longest time, milliseconds, that one try to install may take. */
const INSTALL_MS = 240_000;
const TRIES = 2;

/** Outside of `node_modules`, so that a clean install of the product leaves it alone. */
const cacheFolder = (): string =>
  process.env.KAIWU_AGENTS_CACHE ?? join(import.meta.dirname, '../../.cache/agents');

const folderOf = ({ agentId }: Recipe): string => join(cacheFolder(), agentId);

/** Installs an agent at its pinned version, unless it is there. @returns the folder of its program @throws why it cannot */
export async function installAgent(recipe: Recipe): Promise<string> {
  const prefix = folderOf(recipe);
  for (let left = TRIES; ; left -= 1) {
    const programs = await findInstalled(recipe);
    if (programs !== undefined) return programs;
    if (left === 0) throw new Error(`npm installed ${recipe.package} without a program ${recipe.binary}`);
    await mkdir(prefix, { recursive: true });
    const scripts = recipe.installScripts === true ? [] : ['--ignore-scripts'];
    const what = `${recipe.package}@${recipe.version}`;
    const args = ['install', '--prefix', prefix, '--save-exact', '--no-audit', '--no-fund', ...scripts, what];
    await run('npm', args, { timeout: INSTALL_MS, cwd: prefix }).catch((error: unknown) => {
      if (left === 1) throw new Error(`npm cannot install ${what}: ${lastLines(error)}`);
    });
  }
}

/** The folder of its program, where the pinned version is in the cache. */
export async function findInstalled(recipe: Recipe): Promise<string | undefined> {
  const modules = join(folderOf(recipe), 'node_modules');
  try {
    const manifest = await readFile(join(modules, recipe.package, 'package.json'), 'utf8');
    await access(join(modules, '.bin', recipe.binary), constants.X_OK);
    const { version } = JSON.parse(manifest) as { version: string };
    return version === recipe.version ? join(modules, '.bin') : undefined;
  } catch {
    return undefined;
  }
}

function lastLines(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  return said.trim().split('\n').slice(-3).join(' ').slice(0, 300);
}
