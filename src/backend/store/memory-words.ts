import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import { toWords } from '../../core/search.ts';
import { fromJson } from './rows.ts';
import type { Schema } from './schema.ts';

/** Different words of a query that are looked for. */
const MAX_QUERY_WORDS = 64;

/** The index of words in a database: which passages hold which words, and how well they fit a query. */
export interface MemoryWords {
  /** Makes it where it is not there, and anew where it does not fit the passages. To be awaited once. */
  open(db: Kysely<Schema>): Promise<void>;
  add(db: Kysely<Schema>, ordinal: number, text: string): Promise<void>;
  remove(db: Kysely<Schema>, ordinals: number[]): Promise<void>;
  /** Nothing of what was removed is left in the database's files. Outside of a transaction. */
  wipe(db: Kysely<Schema>): Promise<void>;
  /** Passages that hold a word of the query, best first, none above `upTo`. */
  search(
    db: Kysely<Schema>,
    query: string,
    range: { upTo: number; limit: number },
  ): Promise<{ ordinal: number; score: number }[]>;
}

/** Words as both sides of the index have them, split here, so that every language is split alike. */
const toIndexed = (text: string): string => toWords(text).join(' ');

/** SQLite's FTS5. What is removed is overwritten in the index as well. */
export const sqliteWords: MemoryWords = {
  async open(db) {
    // What is deleted is overwritten: people forget for a reason.
    await sql`pragma secure_delete = on`.execute(db);
    await create(db);
    if (await isSound(db)) return;
    await sql`drop table memory_words`.execute(db);
    await create(db);
    const rows = await db.selectFrom('memoryItems').select(['ordinal', 'text']).execute();
    for (const { ordinal, text } of rows) await sqliteWords.add(db, ordinal, fromJson(text));
  },
  async add(db, ordinal, text) {
    await sql`insert into memory_words(rowid, words) values (${ordinal}, ${toIndexed(text)})`.execute(db);
  },
  async remove(db, ordinals) {
    for (const ordinal of ordinals) await sql`delete from memory_words where rowid = ${ordinal}`.execute(db);
  },
  async wipe(db) {
    await sql`pragma wal_checkpoint(truncate)`.execute(db);
  },
  async search(db, query, { upTo, limit }) {
    const words = [...new Set(toWords(query))].slice(0, MAX_QUERY_WORDS);
    if (words.length === 0) return [];
    const match = words.map((word) => `"${word.replaceAll('"', '')}"`).join(' OR ');
    const { rows } = await sql<{ ordinal: number; score: number }>`
      select rowid as ordinal, -bm25(memory_words) as score from memory_words
      where memory_words match ${match} and rowid <= ${upTo}
      order by bm25(memory_words), rowid desc limit ${limit}`.execute(db);
    return rows;
  },
};

async function create(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql`select 1 from sqlite_master where name = 'memory_words'`.execute(db);
  if (rows.length > 0) return;
  await sql`create virtual table memory_words using fts5(words, tokenize = "unicode61 remove_diacritics 2")`.execute(
    db,
  );
  await sql`insert into memory_words(memory_words, rank) values ('secure-delete', 1)`.execute(db);
}

async function isSound(db: Kysely<Schema>): Promise<boolean> {
  try {
    await sql`insert into memory_words(memory_words) values ('integrity-check')`.execute(db);
    const { rows } = await sql<{ missing: number }>`
      select (select count(*) from memory_items) - (select count(*) from memory_words) as missing`.execute(
      db,
    );
    return rows[0]?.missing === 0;
  } catch {
    return false;
  }
}
