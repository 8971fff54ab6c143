import type { PolicyDocument } from '../../core/policy.ts';
import { diffPolicies, type PolicyDifference, toOrdered } from '../../core/policy-diff.ts';
import type { Preview } from '../../core/ports/previews.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { JsonSchema } from '../../core/spec.ts';
import type { Command, Invocation } from '../../surfaces/cli/command.ts';
import { type CliIo, write } from '../../surfaces/cli/io.ts';
import { createPaint } from '../../surfaces/cli/paint.ts';
import { optional } from '../connection.ts';
import { call, commandAt } from './catalog-calls.ts';
import { choice, flag, text, toLocalCommand } from './local-command.ts';

/** What commands that work with files are made from. */
export interface FileCommandParts {
  /** Commands of the catalog. */
  catalog: readonly Command[];
  actionIds: readonly string[];
  io: CliIo;
}

export const FILE = text('File of the policy, YAML or JSON; - reads stdin.');

export function policyExport({ catalog, io }: FileCommandParts): Command {
  return toLocalCommand({
    path: 'policy export',
    summary: 'Print the policy as a file for version control, always in the same order.',
    fields: { format: { ...choice('Format of the file.', ['yaml', 'json']), default: 'yaml' } },
    examples: [{ title: 'As YAML, to go with `> policy.yaml`', input: {} }],
    talks: true,
    toText: () => '',
    async run({ format = 'yaml' }, invocation) {
      const document = (await call(catalog, 'policy get', {}, invocation)) as unknown as PolicyDocument;
      if (invocation.flags.json) return toOrdered(document);
      const { toPolicyText } = await import('../policy-file.ts');
      await write(io.stdout, toPolicyText(document, format as 'yaml' | 'json'));
      return {};
    },
  });
}

export function policyDiff(parts: FileCommandParts): Command {
  return toLocalCommand({
    path: 'policy diff',
    summary: 'Show what a policy file would change, and what that would have done to the calls of late.',
    description:
      'Changes nothing and exits with 0, different or not; with --check it exits with 6 (conflict) where they differ.',
    fields: {
      file: FILE,
      days: daysOf(parts),
      check: flag('End in the error `conflict` if there is a difference.'),
    },
    positionals: ['file'],
    required: ['file'],
    examples: [
      { title: 'Before an import', input: { file: 'policy.yaml' } },
      {
        title: 'Whether the policy in force is the one under version control',
        input: { file: 'policy.yaml', check: true },
      },
    ],
    errors: ['invalid_input', 'file_not_found', 'conflict'],
    talks: true,
    toText: () => '',
    async run({ file, days, check }, invocation) {
      const comparison = await compare(parts, file as string, invocation, days as number | undefined);
      if (!invocation.flags.json) await show(parts.io, comparison);
      if (check === true && comparison.changes.length > 0) {
        throw new KaiwuError(
          'conflict',
          `${comparison.file} and the policy in force (version ${comparison.policyVersion}) differ.`,
          { details: { ...toOutput(comparison) } },
        );
      }
      return toOutput(comparison);
    },
  });
}

export const daysOf = ({ catalog }: Pick<FileCommandParts, 'catalog'>): JsonSchema =>
  commandAt(catalog, 'policy preview').inputSchema.properties?.days ?? {};

/** A file held against the policy in force. */
export interface Comparison {
  /** As the person calls it. */
  file: string;
  document: PolicyDocument;
  /** Version of the policy in force. */
  policyVersion: number;
  changes: PolicyDifference[];
  notes: string[];
  /** Absent where nothing would change. */
  preview?: Preview;
  days: number;
}

/** What programs get of it. */
export const toOutput = ({ document, file, policyVersion, changes, notes, preview }: Comparison) => ({
  file,
  fileVersion: document.version,
  policyVersion,
  changes,
  notes,
  ...optional('preview', preview),
});

export async function compare(
  { catalog, actionIds, io }: FileCommandParts,
  path: string,
  invocation: Invocation,
  days: number = Number(daysOf({ catalog }).default),
): Promise<Comparison> {
  const [{ readGivenFile }, { readPolicyText }, { toNotes }] = await Promise.all([
    import('../given-file.ts'),
    import('../policy-file.ts'),
    import('../policy-report.ts'),
  ]);
  const { name: file, text: given } = await readGivenFile(path, io);
  const schema = commandAt(catalog, 'policy import').inputSchema.properties?.document ?? {};
  const document = readPolicyText(given, file, schema);
  const current = (await call(catalog, 'policy get', {}, invocation)) as unknown as PolicyDocument;
  const changes = diffPolicies(current, document);
  const comparison = {
    file,
    document,
    policyVersion: current.version,
    changes,
    notes: toNotes(changes, actionIds),
    days,
  };
  if (changes.length === 0) return comparison;
  const { rules } = document;
  const preview = await call(catalog, 'policy preview', { document: { rules }, days }, invocation);
  return { ...comparison, preview: preview as unknown as Preview };
}

export async function show(io: CliIo, comparison: Comparison): Promise<void> {
  const { countOf, toDiffText, toReplayText } = await import('../policy-report.ts');
  const { file, document, policyVersion, changes, notes, preview, days } = comparison;
  if (preview === undefined) {
    return write(io.stdout, `${file} says the same as the policy in force (version ${policyVersion}).\n`);
  }
  const older =
    document.version === policyVersion
      ? []
      : [
          `It was made from version ${document.version}, so an import would be refused: export again and repeat the changes.`,
        ];
  const parts = [
    [
      `${file} against the policy in force (version ${policyVersion}): ${countOf(changes.length, 'change')}.`,
      ...older,
    ].join('\n'),
    toDiffText(changes, createPaint(io.color)),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
    toReplayText(preview, days),
  ];
  await write(io.stdout, `${parts.join('\n\n')}\n`);
}
