import { actions, must, type OutputOf } from '../api/call.ts';

export type AuditRow = OutputOf<typeof actions.audit.list>['rows'][number];
export type AuditFilter = Omit<Parameters<typeof actions.audit.list>[0], 'limit' | 'cursor' | 'order'>;

const PAGE = 200;

/** Saves what the filter lets through as JSON Lines, oldest first. */
export async function exportAudit(filter: AuditFilter): Promise<void> {
  const lines: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await must(
      actions.audit.list({
        ...filter,
        order: 'oldest',
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      }),
    );
    lines.push(...page.rows.map((row) => `${JSON.stringify(row)}\n`));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const url = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'kaiwu-audit.jsonl';
  link.click();
  // The browser has taken it over by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
