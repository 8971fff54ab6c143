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
export const cacheFolder = (): string =>
  process.env.KAIWU_AGENTS_CACHE ?? join(import.meta.dirname, '../../.cache/agents');

/** Installs an agent at its pinned version, unless it is there. @returns the folder of its program @throws why it cannot */
export async function installAgent(recipe: Recipe): Promise<string> {
  const prefix = join(cacheFolder(), recipe.agentId);
  for (let left = TRIES; ; left -= 1) {
    if (await isInstalled(recipe, prefix)) return join(prefix, 'node_modules/.bin');
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

async function isInstalled({ package: name, version, binary }: Recipe, prefix: string): Promise<boolean> {
  try {
    const manifest = await readFile(join(prefix, 'node_modules', name, 'package.json'), 'utf8');
    await access(join(prefix, 'node_modules/.bin', binary), constants.X_OK);
    return (JSON.parse(manifest) as { version: string }).version === version;
  } catch {
    return false;
  }
}

function lastLines(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  return said.trim().split('\n').slice(-3).join(' ').slice(0, 300);
}
