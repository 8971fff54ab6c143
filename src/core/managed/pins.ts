import { toDigest } from '../digest.ts';
import type { ManagedTool } from '../ports/managed.ts';
import type { Runtime } from '../ports/stores.ts';
import { toShortText, toVisibleText } from '../visible-text.ts';
import type { ToolDefinition } from './managed.ts';
import { cutNesting } from './nesting.ts';

/** What a person has accepted of a tool. The definition is kept to tell what has changed since. */
export interface ToolPin {
  name: string;
  /** Of the definition. */
  digest: string;
  definition: ToolDefinition;
}

/** What differs between two definitions. */
export type DefinitionChanges = NonNullable<ManagedTool['changes']>;

/** All that is pinned of a tool, in the order in which it is compared. */
const FIELDS = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

/** Characters of one side of a difference and of its path, and differences that are told. */
const MAX_SIDE = 2000;
const MAX_PATH = 200;
const MAX_CHANGES = 50;

/** The pin of a tool as it is now: SHA-256 over RFC 8785 JSON of its definition. */
export function toPin(definition: ToolDefinition, sha256: Runtime['sha256']): ToolPin {
  const pinned = cutNesting(
    Object.fromEntries(
      FIELDS.filter((field) => definition[field] !== undefined).map((field) => [field, definition[field]]),
    ),
  ) as unknown as ToolDefinition;
  return { name: definition.name, digest: toDigest({ sha256 }, pinned), definition: pinned };
}

/**
 * What differs, by field, down to the part of a schema that does (`inputSchema.properties.to.description`): each side as text,
 * bounded, with what is invisible shown.
 */
export function diffDefinition(before: ToolDefinition, after: ToolDefinition): DefinitionChanges {
  const changes: DefinitionChanges = [];
  for (const field of FIELDS) {
    compare(field, cutNesting<unknown>(before[field]), cutNesting<unknown>(after[field]), changes);
  }
  if (changes.length <= MAX_CHANGES) return changes;
  const more = `${changes.length - MAX_CHANGES} more`;
  return [...changes.slice(0, MAX_CHANGES), { field: '…', after: more }];
}

function compare(path: string, before: unknown, after: unknown, changes: DefinitionChanges): void {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  if (isRecord(before) && isRecord(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const name of names) compare(`${path}.${name}`, own(before, name), own(after, name), changes);
    return;
  }
  changes.push({
    field: toShortText(toVisibleText(path, { singleLine: true }), MAX_PATH),
    ...(before === undefined ? {} : { before: toSide(before) }),
    ...(after === undefined ? {} : { after: toSide(after) }),
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const own = (value: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** The cut comes where the two begin to differ at the latest only by luck, so both ends are kept. */
const toSide = (value: unknown): string =>
  toShortText(toVisibleText(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')), MAX_SIDE);
