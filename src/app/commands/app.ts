import type { Command } from '../../surfaces/cli/command.ts';
import type { App } from '../app.ts';
import { makeAppLink } from '../app-link.ts';
import { resolveTarget } from '../connection.ts';
import { openLink } from '../open-link.ts';
import { flag, toLocalCommand } from './local-command.ts';

/** `kaiwu app`: the page, signed in. */
export function appCommand(app: App): Command {
  return toLocalCommand({
    path: 'app',
    summary: 'Open the app in a browser, signed in.',
    description:
      'Makes a link that is good once, for five minutes. Its secret stands behind the #, which no browser sends to a server.',
    fields: { print: flag('Print the link and open nothing.') },
    examples: [
      { title: 'Open it', input: {} },
      { title: 'For a browser elsewhere', input: { print: true } },
    ],
    errors: ['not_authenticated', 'permission_escalation_denied', 'backend_unreachable'],
    toText: ({ opened, url }) =>
      opened === true
        ? 'Opened in your browser. If nothing came up: add --print, and open the link by hand.\n'
        : `${String(url)}\n`,
    async run({ print }, { flags, signal }) {
      const target = await resolveTarget(app, flags, true);
      const link = await makeAppLink(app, target, signal);
      if (print === true) return { ...link, opened: false };
      const opening = await openLink(app, link.url);
      // A link that a browser took is spent.
      return (await opening?.taken) === true ? { opened: true } : { ...link, opened: false };
    },
  });
}
