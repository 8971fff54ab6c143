import type { Page } from '../../core/page.ts';
import { actions, must, type OutputOf } from '../api/call.ts';
import { readPages } from '../api/pages.ts';

export type AuditRow = OutputOf<typeof actions.audit.list>['rows'][number];
export type AuditFilter = Omit<Parameters<typeof actions.audit.list>[0], 'limit' | 'cursor' | 'order'>;

const PAGE = 200;

/** One page of the log. */
export async function auditPage(input: Parameters<typeof actions.audit.list>[0]): Promise<Page<AuditRow>> {
  const { rows, nextCursor } = await must(actions.audit.list(input));
  return { items: rows, nextCursor };
}

/** Saves what the filter lets through as JSON Lines, oldest first. */
export async function exportAudit(filter: AuditFilter): Promise<void> {
  const { rows } = await readPages(
    () => Number.POSITIVE_INFINITY,
    (place) => auditPage({ ...filter, order: 'oldest', limit: PAGE, ...place }),
  );
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
  const url = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'kaiwu-audit.jsonl';
  link.click();
  // The browser has taken it over by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
