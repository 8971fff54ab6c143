import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bareEnv, type CliOptions, type CliResult, makeFolder, runKaiwu } from './kaiwu.ts';

export interface Home {
  home: string;
  env: Record<string, string>;
  cli(args: string[], options?: CliOptions): Promise<CliResult>;
  path(...parts: string[]): string;
  remove(): Promise<void>;
}

/** A temporary home for the command line, without any backend. */
export async function makeHome(): Promise<Home> {
  const home = await makeFolder('kaiwu-home-');
  const env = bareEnv(home);
  await mkdir(env.HOME!, { recursive: true });
  return {
    home,
    env,
    cli: (args, options = {}) => runKaiwu(args, { cwd: home, ...options, env: { ...env, ...options.env } }),
    path: (...parts) => join(home, ...parts),
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

/** Writes what a sign-in to `url` leaves behind, as profile `name`. */
export async function signIn(
  home: Home,
  name: string,
  url: string,
  token = `kw_test_${name}_0123456789`,
): Promise<void> {
  const added = await home.cli(['server', 'add', name, url, '--use']);
  if (added.code !== 0) throw new Error(added.stderr);
  const folder = home.path('profiles', name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ token, url, deviceId: 'dev_1' }), {
    mode: 0o600,
  });
}
