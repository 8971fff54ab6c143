import { join } from 'node:path';
import type { DaemonMethods } from '../../core/link.ts';
import type { Environment } from '../../process/environment.ts';

type Params = DaemonMethods['session.start']['params'];

/** Directories of a start whose `~` stands for the home of the daemon's user. Another user's (`~name`) stays as it is. */
export function inHome(params: Params, { HOME: home }: Environment): Params {
  if (home === undefined || home === '') return params;
  const place = (path: string) => (/^~(\/|$)/.test(path) ? join(home, path.slice(1)) : path);
  const { directory, additionalDirectories, within } = params;
  return {
    ...params,
    directory: place(directory),
    ...(additionalDirectories && { additionalDirectories: additionalDirectories.map(place) }),
    ...(within && { within: within.map(place) }),
  };
}
