import { type Expression, type ExpressionBuilder, sql, type SqlBool } from 'kysely';
import type { MemoryFilter, MemoryItem, MemoryScope } from '../../core/ports/memory.ts';
import { fromJson, type Json, toJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';

export interface NewMemory extends Omit<MemoryItem, 'id' | 'created_at' | 'observed_at'> {
  /** Message whose turn it is of: a passage of it is stored once. */
  messageId?: string;
  observed_at?: string;
}

/** Which column holds a field of the scope. */
const COLUMNS = {
  workspace: 'workspace',
  folder: 'folder',
  file_path: 'filePath',
  language: 'language',
  repo: 'repo',
  commit: 'commitId',
  url: 'url',
  thread_id: 'threadId',
  agent_id: 'agentId',
} as const satisfies Record<keyof MemoryScope, keyof Schema['memoryItems']>;
const SCOPE = Object.entries(COLUMNS) as [keyof MemoryScope, (typeof COLUMNS)[keyof MemoryScope]][];

/** What fits all of a filter. */
export function matches(
  eb: ExpressionBuilder<Schema, 'memoryItems'>,
  filter: MemoryFilter,
): Expression<SqlBool> {
  const all = SCOPE.flatMap(([field, column]) =>
    filter[field] === undefined ? [] : [eb(column, '=', filter[field])],
  );
  const { kinds, sources, tags_any: tags, observed_after: after, observed_before: before } = filter;
  if (kinds !== undefined) all.push(eb('kind', 'in', kinds));
  if (after !== undefined) all.push(eb('observedAt', '>=', after));
  if (before !== undefined) all.push(eb('observedAt', '<=', before));
  return eb.and([
    ...all,
    ...(sources === undefined ? [] : [holdsAny('sources', sources)]),
    ...(tags === undefined ? [] : [holdsAny('tags', tags)]),
  ]);
}

/** A list is kept as JSON, in which each of its texts stands in quotes and cannot be part of another. */
const holdsAny = (column: 'sources' | 'tags', wanted: string[]) =>
  wanted.length === 0
    ? sql<SqlBool>`1 = 0`
    : sql<SqlBool>`(${sql.join(
        wanted.map((text) => {
          const pattern = `%${JSON.stringify(text).replaceAll(/[\\%_]/g, '\\$&')}%`;
          return sql<SqlBool>`${sql.ref(column)} like ${pattern} escape '\\'`;
        }),
        sql` or `,
      )})`;

type Row = Schema['memoryItems'];

export function toRow(item: NewMemory, itemId: string, now: string): Omit<Row, 'ordinal'> {
  const scope = Object.fromEntries(SCOPE.map(([field, column]) => [column, item[field] ?? null])) as Record<
    (typeof COLUMNS)[keyof MemoryScope],
    string | null
  >;
  return {
    itemId,
    kind: item.kind,
    learningKind: item.learning_kind ?? null,
    text: toJson(item.text),
    confidence: item.confidence ?? null,
    sources: toJson(item.sources),
    tags: toJson(item.tags),
    ...scope,
    messageId: item.messageId ?? null,
    observedAt: item.observed_at ?? now,
    createdAt: now,
  };
}

export function toItem(row: Omit<Row, 'ordinal'> & { ordinal: unknown }): MemoryItem {
  const scope = SCOPE.map(([field, column]) => [field, row[column]] as const);
  return withoutNulls({
    id: row.itemId,
    kind: row.kind,
    learning_kind: row.learningKind,
    text: fromJson(row.text),
    confidence: row.confidence,
    sources: fromJson(row.sources),
    tags: fromJson(row.tags),
    ...(Object.fromEntries(scope) as Record<keyof MemoryScope, string | null>),
    observed_at: row.observedAt,
    created_at: row.createdAt,
  }) as MemoryItem;
}

export type MemoryRow = {
  itemId: string;
  kind: MemoryItem['kind'];
  learningKind: MemoryItem['learning_kind'] | null;
  text: Json<string>;
  confidence: number | null;
  sources: Json<string[]>;
  tags: Json<string[]>;
  workspace: string | null;
  folder: string | null;
  filePath: string | null;
  language: string | null;
  repo: string | null;
  commitId: string | null;
  url: string | null;
  threadId: string | null;
  agentId: string | null;
  messageId: string | null;
  observedAt: string;
  createdAt: string;
};
