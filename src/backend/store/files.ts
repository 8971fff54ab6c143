import type { Kysely, Selectable } from 'kysely';
import type { StoredFile } from '../../core/file.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { readPage } from './paging.ts';
import type { Schema } from './schema.ts';
import type { Writer } from './writer.ts';

/** Keeps what is known of sent files, and the account's recipient. */
export interface FileStore {
  insert(file: Omit<StoredFile, 'createdAt'>): Promise<void>;
  get(fileId: string): Promise<StoredFile | undefined>;
  /** @returns whether it was there */
  remove(fileId: string): Promise<boolean>;
  /** Ciphertext of all files, bytes. */
  storedBytes(): Promise<number>;
  /** Newest first. */
  list(filter: { sessionId?: string }, page: PageRequest): Promise<Page<StoredFile>>;
  /** To whom files are encrypted; undefined until the account has a key. */
  recipient(): Promise<string | undefined>;
  /** Compare-and-set. @param before the recipient that it takes the place of; undefined for none */
  setRecipient(recipient: string, before: string | undefined): Promise<boolean>;
}

const ORDER = { list: 'files', columns: { createdAt: 'string', fileId: 'string' } } as const;

/** Some databases answer large numbers as text. */
const toFile = (row: Selectable<Schema['files']>): StoredFile => ({
  ...row,
  sizeBytes: Number(row.sizeBytes),
  storedBytes: Number(row.storedBytes),
});

export function createFileStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): FileStore {
  const newest = (from: Kysely<Schema>) =>
    from.selectFrom('accountKeys').selectAll().orderBy('keyId', 'desc').limit(1).executeTakeFirst();

  return {
    insert: (file) =>
      writer.write(async (trx, announce) => {
        const row = { ...file, createdAt: runtime.now().toISOString() };
        await trx.insertInto('files').values(row).execute();
        announce({ type: 'file.changed', fileId: file.fileId, sessionId: file.sessionId });
      }),
    get: async (fileId) => {
      const row = await db.selectFrom('files').selectAll().where('fileId', '=', fileId).executeTakeFirst();
      return row && toFile(row);
    },
    remove: (fileId) =>
      writer.write(async (trx, announce) => {
        const removed = await trx
          .deleteFrom('files')
          .where('fileId', '=', fileId)
          .returning('sessionId')
          .executeTakeFirst();
        if (removed !== undefined) announce({ type: 'file.changed', fileId, ...removed });
        return removed !== undefined;
      }),
    storedBytes: async () => {
      const { bytes } = await db
        .selectFrom('files')
        .select(({ fn }) => fn.sum('storedBytes').as('bytes'))
        .executeTakeFirstOrThrow();
      return Number(bytes ?? 0);
    },
    list: ({ sessionId }, page) => {
      const all = db.selectFrom('files').selectAll();
      const query = sessionId === undefined ? all : all.where('sessionId', '=', sessionId);
      return readPage(query, ORDER, page, toFile);
    },
    recipient: async () => (await newest(db))?.recipient,
    setRecipient: (recipient, before) =>
      db.transaction().execute(async (trx) => {
        const now = await newest(trx);
        if (now?.recipient !== before) return false;
        const keyId = (now?.keyId ?? 0) + 1;
        const row = { keyId, recipient, createdAt: runtime.now().toISOString() };
        // Two at once write the same number, and one of them finds it taken.
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('accountKeys')
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        return numInsertedOrUpdatedRows === 1n;
      }),
  };
}
