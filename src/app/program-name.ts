import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { shellQuote } from '../surfaces/cli/shell-quote.ts';
import type { App } from './app.ts';

/**
 * What a person types to run this very program: its plain name where the PATH of their shell finds it under that, else its
 * whole path, quoted where a shell needs it.
 */
export function programName({ channel, binary, env }: Pick<App, 'channel' | 'binary' | 'env'>): string {
  const found = (env.PATH ?? '')
    .split(delimiter)
    // npm puts these in front for the programs that it starts; the person's own shell has not got them.
    .filter((folder) => folder !== '' && !/node_modules[\\/]\.bin[\\/]?$/.test(folder))
    .map((folder) => realPath(join(folder, channel)))
    .find((path) => path !== undefined);
  return found !== undefined && found === realPath(binary) ? channel : shellQuote(binary);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
