import { resolve } from 'node:path';
import { KaiwuError } from '../../core/errors.ts';
import type { AuditVerdict } from '../../core/ports/governance.ts';
import type { Command, Invocation } from '../../surfaces/cli/command.ts';
import { type CliIo, write } from '../../surfaces/cli/io.ts';
import { call, commandAt } from './catalog-calls.ts';
import { text, toLocalCommand } from './local-command.ts';
import type { FileCommandParts } from './policy.ts';

type Row = Record<string, unknown>;

const countRows = (count: number): string => `${count.toLocaleString('en')} row${count === 1 ? '' : 's'}`;

export function auditVerify({ catalog }: FileCommandParts): Command {
  const action = commandAt(catalog, 'audit verify');
  return {
    ...action,
    errors: [...action.errors, 'state_damaged'],
    toText(output) {
      const { rows, head } = output as unknown as AuditVerdict;
      return (
        `The audit log is intact: ${countRows(rows)}, head ${head}.\n` +
        `Keep the head in another place; \`kaiwu audit verify --head ${head}\` proves later that nothing was cut off.`
      );
    },
    async run(invocation) {
      const envelope = await action.run(invocation);
      if (envelope.status !== 'ok') return envelope;
      const { fault, rows } = envelope.output as unknown as AuditVerdict;
      if (fault === undefined) return envelope;
      // For a script, a log that does not hold must not look like success.
      throw new KaiwuError('state_damaged', `The audit log is not intact. ${fault.reason}`, {
        hint: `${rows === 0 ? 'No row' : `Only the ${countRows(rows)} before that`} can be relied on: compare with an export or a copy from before.`,
        details: envelope.output,
      });
    },
  };
}

export function auditExport({ catalog, io }: FileCommandParts): Command {
  const {
    limit: _,
    cursor: __,
    order: ___,
    ...filter
  } = commandAt(catalog, 'audit list').inputSchema.properties ?? {};
  return toLocalCommand({
    path: 'audit export',
    summary: 'Write the audit log as JSON Lines, one row a line, oldest first.',
    description:
      'Rows go to stdout as they come, or to a file that appears only once it is complete. Ends with what was there when it began.',
    fields: { ...filter, output: text('File to write, in place of stdout.') },
    examples: [
      {
        title: 'What agents did since a day',
        input: { surface: 'agent', since: '2026-01-01T00:00:00Z', output: 'audit.jsonl' },
      },
    ],
    errors: ['invalid_input', 'file_not_found', 'access_denied'],
    talks: true,
    toText: ({ file, rows }) =>
      typeof file === 'string' ? `${countRows(rows as number)} written to ${file}.` : '',
    async run({ output, ...wanted }, invocation) {
      if (output === undefined && invocation.flags.json) {
        throw new KaiwuError('invalid_input', 'Rows are JSON already; --json here needs --output.', {
          hint: 'Leave --json out, or add `--output FILE`.',
        });
      }
      const pages = readPages(catalog, wanted, invocation);
      if (output === undefined) return { rows: await pour(pages, toStdout(io)) };
      const { writeGivenFile } = await import('../given-file.ts');
      const file = resolve(io.cwd, output as string);
      const rows = await writeGivenFile(file, (put) =>
        pour(pages, async (lines) => {
          await put(lines);
          return true;
        }),
      );
      return { file, rows };
    },
  });
}

/** Takes the lines of a page. @returns whether anybody still reads */
type Sink = (lines: string) => Promise<boolean>;

/** Settles when the lines have left the process, so that no more is read than a slow reader takes. */
function toStdout({ stdout }: CliIo): Sink {
  let open = true;
  stdout.once('error', () => {
    open = false;
  });
  return async (lines) => {
    await write(stdout, lines);
    return open;
  };
}

/** @returns how many rows were written */
async function pour(pages: AsyncIterable<Row[]>, sink: Sink): Promise<number> {
  let count = 0;
  for await (const rows of pages) {
    count += rows.length;
    if (!(await sink(rows.map((row) => `${JSON.stringify(row)}\n`).join('')))) break;
  }
  return count;
}

/** Characters that a page should have: rows differ in size by four orders. */
const PAGE_SIZE = 1024 * 1024;
const MAX_ROWS = 200;

/** Rows oldest first, a page at a time. What comes after the first call is left out: each page is a call, and so a row. */
async function* readPages(
  catalog: readonly Command[],
  filter: Record<string, unknown>,
  invocation: Invocation,
): AsyncGenerator<Row[]> {
  const list = (more: object) => call(catalog, 'audit list', { ...filter, ...more }, invocation);
  const newest = ((await list({ limit: 1 })).rows as Row[])[0];
  if (newest === undefined) return;
  const until = newest.at as string;
  let limit = 20;
  for (let cursor: unknown; ; ) {
    const page = await list({ order: 'oldest', until, limit, ...(cursor === undefined ? {} : { cursor }) });
    const rows = page.rows as Row[];
    yield rows;
    cursor = page.nextCursor;
    if (cursor === undefined) return;
    const size = JSON.stringify(rows).length / rows.length;
    limit = Math.max(1, Math.min(MAX_ROWS, Math.floor(PAGE_SIZE / size)));
  }
}
