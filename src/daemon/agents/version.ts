import { spawn } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalGroup } from '../../process/group.ts';

const VERSION_LIMIT_MS = 5000;
/** Folders above a program in which its package is looked for. */
const MAX_ABOVE = 4;

/** The version of an agent's program: by its npm package, which costs nothing and is sure, else by asking the program. */
export const findVersion = async (
  command: string,
  env: Record<string, string>,
): Promise<string | undefined> => packageVersion(command) ?? (await askVersion(command, env));

function packageVersion(command: string): string | undefined {
  try {
    let folder = dirname(realpathSync(command));
    for (let left = MAX_ABOVE; left > 0; left -= 1, folder = dirname(folder)) {
      const version = versionOf(folder, basename(command));
      if (version !== undefined) return version;
    }
  } catch {
    // It was just removed.
  }
  return undefined;
}

/** A package counts when it says that the program is its own. */
function versionOf(folder: string, program: string): string | undefined {
  try {
    const { name, version, bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    const programs =
      typeof bin === 'string'
        ? [String(name).replace(/^.*\//, '')]
        : Object.keys(typeof bin === 'object' && bin !== null ? bin : {});
    return programs.includes(program) && typeof version === 'string' ? version.slice(0, 100) : undefined;
  } catch {
    return undefined;
  }
}

/** Programs that do not know the question may wait for input or start in earnest: they get no input and little time. */
async function askVersion(command: string, env: Record<string, string>): Promise<string | undefined> {
  const child = spawn(command, ['--version'], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  let said = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    said = (said + text).slice(0, 4096);
  });
  const over = new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  const limit = new AbortController();
  await Promise.race([over, sleep(VERSION_LIMIT_MS, undefined, { signal: limit.signal }).catch(() => {})]);
  limit.abort();
  if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
  return /\d+\.\d+\.\d+\S*/.exec(said)?.[0];
}
