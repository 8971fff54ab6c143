import { KaiwuError } from '../../core/errors.ts';
import type { DaemonMethods } from '../../core/link.ts';
import { allInside } from './inside.ts';

/**
 * The backend has compared the words; only here can be seen where a link leads.
 * @throws permission_escalation_denied for a directory that lies outside of where the start is held to
 */
export async function checkWithin({
  directory,
  additionalDirectories = [],
  within,
}: Pick<
  DaemonMethods['session.start']['params'],
  'directory' | 'additionalDirectories' | 'within'
>): Promise<void> {
  if (within === undefined) return;
  for (const path of [directory, ...additionalDirectories]) {
    if (await allInside([path], path, within)) continue;
    throw new KaiwuError(
      'permission_escalation_denied',
      `An agent cannot start a session outside its own directories: ${path} leads out of them.`,
      {
        hint: 'Name a directory that lies inside them when all links are followed, or let a person start it.',
        details: { directory: path },
      },
    );
  }
}
