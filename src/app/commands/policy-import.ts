import type { Envelope } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { Command, Invocation } from '../../surfaces/cli/command.ts';
import type { CliIo } from '../../surfaces/cli/io.ts';
import { commandAt } from './catalog-calls.ts';
import { flag } from './local-command.ts';
import { type Comparison, compare, FILE, type FileCommandParts, show, toOutput } from './policy.ts';

/** The action with a file in front: what it would do is shown, and asked, before it is called. */
export function policyImport(parts: FileCommandParts): Command {
  const action = commandAt(parts.catalog, 'policy import');
  const { properties } = action.inputSchema;
  return {
    ...action,
    description:
      'Shows first what would change and what that would have done to the calls of late, and asks. Without a terminal to ask on, --yes stands for the answer. Changes that would newly run unattended need --confirm-unattended, or their number typed.',
    inputSchema: {
      type: 'object',
      properties: { file: FILE, yes: flag('Do not ask whether to put it in force.'), ...properties },
    },
    positionals: ['file'],
    examples: [{ title: 'From a file', input: { file: 'policy.yaml' } }, ...action.examples],
    errors: [...action.errors, 'file_not_found', 'canceled'],
    talks: true,
    toText: ({ version, changed }) =>
      changed === false ? 'Nothing to do.' : `In force: version ${String(version)} of the policy.`,
    async run(invocation) {
      const { file, yes, ...input } = invocation.input;
      if ((file === undefined) === (input.document === undefined)) {
        throw new KaiwuError(
          'invalid_input',
          '`kaiwu policy import` takes a file or --document, one of them.',
          {
            hint: 'For example: `kaiwu policy import policy.yaml`.',
          },
        );
      }
      if (file === undefined) return action.run({ ...invocation, input });
      const comparison = await compare(parts, file as string, invocation, input.days as number | undefined);
      if (!invocation.flags.json) await show(parts.io, comparison);
      const { document, policyVersion, changes } = comparison;
      if (changes.length === 0) return { status: 'ok', output: { changed: false, ...toOutput(comparison) } };
      if (document.version !== policyVersion) throw olderVersion(comparison);
      const agreed = { yes: yes === true, unattended: input.confirmUnattended === true };
      const confirmUnattended = await confirm(comparison, agreed, parts.io, invocation);
      const envelope = await action.run({ ...invocation, input: { ...input, document, confirmUnattended } });
      return withComparison(envelope, comparison);
    },
  };
}

function withComparison(envelope: Envelope, { file, changes, notes }: Comparison): Envelope {
  if (envelope.status !== 'ok') return envelope;
  return { status: 'ok', output: { changed: true, file, changes, notes, ...envelope.output } };
}

/** @returns whether changes may newly run unattended @throws confirmation_required | canceled */
async function confirm(
  comparison: Comparison,
  agreed: { yes: boolean; unattended: boolean },
  io: CliIo,
  { flags, signal }: Invocation,
): Promise<boolean> {
  const unattended = comparison.preview?.newlyUnattended.count ?? 0;
  const lacksUnattended = unattended > 0 && !agreed.unattended;
  if (agreed.yes && !lacksUnattended) return agreed.unattended;
  const { ask, canAsk } = await import('../ask.ts');
  if (flags.json || !canAsk(io)) throw needs(comparison, !agreed.yes, lacksUnattended);
  const question = lacksUnattended
    ? `\n${unattended} of these calls would have run without anybody having agreed. Type ${unattended} to put the policy in force all the same: `
    : '\nPut this policy in force? [y/N] ';
  const answer = await ask(question, io, signal);
  const yes = lacksUnattended ? answer === String(unattended) : /^y(es)?$/i.test(answer);
  if (!yes) throw new KaiwuError('canceled', 'Nothing was changed.');
  return agreed.unattended || lacksUnattended;
}

function needs(comparison: Comparison, lacksYes: boolean, lacksUnattended: boolean): KaiwuError {
  const flags = [...(lacksYes ? ['--yes'] : []), ...(lacksUnattended ? ['--confirm-unattended'] : [])];
  const { file, preview } = comparison;
  const count = preview?.newlyUnattended.count ?? 0;
  const message = lacksUnattended
    ? `By the calls of late, ${count} changes would newly have run without anybody having agreed.`
    : `Putting ${file} in force needs a yes, and there is no terminal to ask on.`;
  return new KaiwuError('confirmation_required', `${message} Nothing was changed.`, {
    hint: `If that is what you want, import it again with ${flags.join(' ')}.`,
    details: toOutput(comparison),
  });
}

const olderVersion = ({ file, document, policyVersion }: Comparison): KaiwuError =>
  new KaiwuError(
    'conflict',
    `${file} was made from version ${document.version}; the policy is at version ${policyVersion} now. Nothing was changed.`,
    {
      hint: 'Export the policy again (`kaiwu policy export`), repeat your changes in it, and import that.',
      details: { version: policyVersion, received: document.version },
    },
  );
