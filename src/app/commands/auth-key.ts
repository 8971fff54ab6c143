import { createHash } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import { KaiwuError } from '../../core/errors.ts';
import { makeIdentity, sealText, toRecipient } from '../../local/identity-age.ts';
import type { Command, GlobalFlags } from '../../surfaces/cli/command.ts';
import type { CliIo } from '../../surfaces/cli/io.ts';
import { requireAccountKey, takeAccountKey } from '../account-key.ts';
import type { App } from '../app.ts';
import { identityOf, openFiles, optional, resolveTarget } from '../connection.ts';
import { commandAt } from './catalog-calls.ts';
import { flag, text, toLocalCommand } from './local-command.ts';

/** What both screens show of the recipient that a new device made: who stands between them has another one. */
export function toKeyCheck(recipient: string): string {
  const hex = createHash('sha256').update(recipient).digest('hex').slice(0, 12).toUpperCase();
  return `${hex.slice(0, 4)}-${hex.slice(4, 8)}-${hex.slice(8)}`;
}

const fold = (check: string): string => check.replaceAll(/[^0-9a-z]/gi, '').toUpperCase();

/** `auth approve` with the account's key handed over, and the recovery phrase. */
export const keyCommands = (app: App, io: CliIo, catalog: readonly Command[]): Command[] => [
  ...['device approve', 'auth approve'].map((path) => approve(app, io, commandAt(catalog, path))),
  ...recoveryCommands(app, io),
];

function approve(app: App, io: CliIo, action: Command): Command {
  const { sealedKey: _, ...properties } = action.inputSchema.properties ?? {};
  return {
    ...action,
    description:
      'Hands the device the key of your files as well, sealed so that the backend cannot read it. With the key check that the device shows, nobody can have put another device in its place.',
    inputSchema: {
      ...action.inputSchema,
      properties: { ...properties, keyCheck: text('Key check that the new device shows.') },
    },
    async run({ input: { keyCheck, ...input }, ...invocation }) {
      const handed = await sealFor(
        app,
        invocation.flags,
        String(input.userCode),
        keyCheck as string | undefined,
      );
      const sealed = optional('sealedKey', handed.sealedKey);
      const envelope = await action.run({ ...invocation, input: { ...input, ...sealed } });
      // The output is the action's own, whichever way it is called.
      if (envelope.status === 'ok') io.stderr.write(`${handed.told}\n`);
      return envelope;
    },
  };
}

/** The account's key for the device that waits with a code. @throws access_denied when the key check is another device's */
async function sealFor(app: App, flags: GlobalFlags, userCode: string, keyCheck: string | undefined) {
  const target = await resolveTarget(app, flags, true);
  const identity = await identityOf(app, target).read();
  const { recipient } = await (await openFiles(app, target))
    .waitingDevice(userCode)
    .catch((error: unknown) => {
      // The approval itself says what is wrong with the code.
      if (error instanceof KaiwuError && error.code === 'not_found') return { recipient: undefined };
      throw error;
    });
  if (recipient === undefined) {
    if (keyCheck !== undefined) throw wrongCheck('it made no key of its own');
    return { told: 'The key of your files was not handed over: the device did not ask for it.' };
  }
  const check = toKeyCheck(recipient);
  if (keyCheck !== undefined && fold(keyCheck) !== fold(check)) throw wrongCheck(`it is ${check} here`);
  if (identity === undefined)
    return { told: 'The key of your files was not handed over: this machine does not have it.' };
  return {
    sealedKey: await sealText(identity, recipient),
    told: `The key of your files was handed over to the device with the key check ${check}.`,
  };
}

const wrongCheck = (why: string) =>
  new KaiwuError('access_denied', `The key check is not the one of the device that waits: ${why}.`, {
    hint: 'Nothing was approved. Compare code and key check with what the new device shows; if they agree, do not trust this backend.',
  });

function recoveryCommands(app: App, io: CliIo): Command[] {
  return [
    toLocalCommand({
      path: 'auth recovery show',
      summary: 'Show the recovery phrase: 24 words from which the key of your files can be made again.',
      description:
        'Write them on paper. Whoever has them can read your files; without them and without a signed-in device nobody can, you included.',
      fields: { again: flag('Show it although it was shown before.') },
      errors: ['not_authenticated', 'not_found', 'conflict', 'state_damaged'],
      async run({ again }, { flags }) {
        const target = await resolveTarget(app, flags, true);
        const store = identityOf(app, target);
        const shownAt = await store.phraseShownAt();
        if (shownAt !== undefined && again !== true) {
          throw new KaiwuError('conflict', `The recovery phrase was shown at ${shownAt}.`, {
            hint: 'If you did not write it down: `kaiwu auth recovery show --again`.',
          });
        }
        const { toWords } = await import('../../local/identity-words.ts');
        const words = toWords(await requireAccountKey(app, target));
        await store.markPhraseShown(app.runtime.now().toISOString());
        return { words };
      },
      toText: ({ words }) => `${toRows(String(words))}\n`,
    }),
    toLocalCommand({
      path: 'auth recovery restore',
      summary: 'Give this machine the key of your files again, from the recovery phrase on stdin.',
      description: 'Reads the 24 words from stdin, so that they are in no history and no list of processes.',
      errors: ['not_authenticated', 'invalid_input', 'conflict', 'state_damaged'],
      talks: true,
      async run(_, { flags }) {
        const target = await resolveTarget(app, flags, true);
        if (io.progress) io.stderr.write('Type the 24 words, then Ctrl-D.\n');
        const { fromWords } = await import('../../local/identity-words.ts');
        await takeAccountKey(app, target, undefined, fromWords(await readText(io.stdin)));
        return { profile: target.profile, filesKey: 'here' };
      },
    }),
    toLocalCommand({
      path: 'auth recovery reset',
      summary:
        'Make a new key for your files when the old one is lost. Files that were sent before stay unreadable.',
      fields: { loseFiles: flag('Yes: nobody will be able to read the files that were sent so far.') },
      errors: ['not_authenticated', 'conflict', 'invalid_input', 'state_damaged'],
      async run({ loseFiles }, { flags }) {
        const target = await resolveTarget(app, flags, true);
        if (loseFiles !== true) {
          throw new KaiwuError(
            'invalid_input',
            'A new key makes all files that were sent so far unreadable.',
            {
              hint: 'Add --lose-files if that is meant. A device that has the key, or the recovery phrase, is better.',
            },
          );
        }
        const files = await openFiles(app, target);
        const identity = await makeIdentity();
        const before = await files.accountRecipient();
        await files.setAccountRecipient(await toRecipient(identity), before);
        await identityOf(app, target).write(identity);
        return { profile: target.profile, filesKey: 'made' };
      },
    }),
  ];
}

/** Four rows of six numbered words. */
function toRows(words: string): string {
  const cells = words.split(' ').map((word, i) => `${String(i + 1).padStart(2)} ${word.padEnd(9)}`);
  const rows = [0, 6, 12, 18].map((from) =>
    cells
      .slice(from, from + 6)
      .join(' ')
      .trimEnd(),
  );
  return rows.join('\n');
}
