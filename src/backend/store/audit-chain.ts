import { setImmediate } from 'node:timers/promises';
import type { Kysely, Selectable } from 'kysely';
import { toDigest } from '../../core/digest.ts';
import type { AuditRow, AuditVerdict } from '../../core/ports/governance.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { fromJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';

/** What the first row is chained to. */
export const CHAIN_START = '0'.repeat(64);

/** Rows that are read at once: one can hold megabytes. */
const AUDIT_PAGE = 50;

type StoredRow = Selectable<Schema['audit']>;

export const toAuditRow = (row: StoredRow): AuditRow => ({
  ...withoutNulls(row),
  input: fromJson(row.input),
});

/**
 * SHA-256 over the digest of the row before and the RFC 8785 JSON of what the row says: all but its number and its own
 * digest. What a row does not have is not in it, so a later column leaves older rows as they are.
 */
export const toRowHash = (
  runtime: Runtime,
  before: string,
  row: Omit<AuditRow, 'auditId' | 'hash'> & Partial<AuditRow>,
): string => toDigest(runtime, { ...row, auditId: undefined, hash: undefined }, before);

/** Rows by their numbers, a page at a time; `until` a number, inclusive. Others run between the pages. */
export async function* auditPages(db: Kysely<Schema>, until: number): AsyncGenerator<StoredRow[]> {
  let last = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const rows = await db
      .selectFrom('audit')
      .selectAll()
      .where('auditId', '>', last)
      .where('auditId', '<=', until)
      .orderBy('auditId')
      .limit(AUDIT_PAGE)
      .execute();
    if (rows.length > 0) yield rows;
    const newest = rows.at(-1);
    if (newest === undefined || rows.length < AUDIT_PAGE) return;
    last = newest.auditId;
    await setImmediate();
  }
}

/** Recomputes the chain as it is now: rows that come meanwhile are not waited for. */
export async function verifyAudit(
  db: Kysely<Schema>,
  runtime: Runtime,
  head: string = CHAIN_START,
): Promise<AuditVerdict> {
  const { newest } = await db
    .selectFrom('audit')
    .select((eb) => eb.fn.max('auditId').as('newest'))
    .executeTakeFirstOrThrow();
  let rows = 0;
  let before = CHAIN_START;
  let known = head === before;
  for await (const page of auditPages(db, newest ?? 0)) {
    for (const row of page) {
      const reason = faultOf(row, rows + 1, () => toRowHash(runtime, before, toAuditRow(row)));
      if (reason !== undefined) return { rows, head: before, fault: { auditId: row.auditId, reason } };
      rows += 1;
      before = row.hash;
      known ||= head === before;
    }
  }
  if (known) return { rows, head: before };
  const reason = `No row has the digest ${head}: rows after row ${rows} were removed, or the digest is of another log.`;
  return { rows, head: before, fault: { auditId: rows + 1, reason } };
}

/** Numbers rise by one from 1, as rows are only ever added; `number` is the one that follows. */
function faultOf(row: StoredRow, number: number, toHash: () => string): string | undefined {
  if (row.auditId > number) {
    const last = row.auditId - 1;
    return number === last
      ? `Row ${number}, the one before it, is missing.`
      : `Rows ${number} to ${last}, the ones before it, are missing.`;
  }
  if (row.auditId === number && hashOf(toHash) === row.hash) return undefined;
  return `Row ${row.auditId} is not what was written: it, or its digest, was altered, or it was put in later.`;
}

/** A row that is no longer JSON has none. */
function hashOf(toHash: () => string): string | undefined {
  try {
    return toHash();
  } catch {
    return undefined;
  }
}
