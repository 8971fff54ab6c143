import { toDigest } from '../digest.ts';
import type { ManagedTool } from '../ports/managed.ts';
import type { Runtime } from '../ports/stores.ts';
import { toShortText, toVisibleText } from '../visible-text.ts';
import type { ToolDefinition } from './managed.ts';

/** What a person has accepted of a tool. The definition is kept to tell what has changed since. */
export interface ToolPin {
  name: string;
  /** Of the definition. */
  digest: string;
  definition: ToolDefinition;
}

/** All that is pinned of a tool, in the order in which it is compared. */
const FIELDS = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

/** Characters of one side of a difference, and differences that are told. */
const MAX_SIDE = 2000;
const MAX_CHANGES = 50;

/** The pin of a tool as it is now: SHA-256 over RFC 8785 JSON of its definition. */
export function toPin(definition: ToolDefinition, sha256: Runtime['sha256']): ToolPin {
  const pinned = Object.fromEntries(
    FIELDS.filter((field) => definition[field] !== undefined).map((field) => [field, definition[field]]),
  ) as unknown as ToolDefinition;
  return { name: definition.name, digest: toDigest({ sha256 }, pinned), definition: pinned };
}

/** What differs, field by field (`description`, `inputSchema.properties.to`), each side bounded and with what is invisible shown. */
export function diffDefinition(
  before: ToolDefinition,
  after: ToolDefinition,
): NonNullable<ManagedTool['changes']> {
  const changes: NonNullable<ManagedTool['changes']> = [];
  for (const field of FIELDS) {
    if (JSON.stringify(before[field]) === JSON.stringify(after[field])) continue;
    changes.push({ field, ...side('before', before[field]), ...side('after', after[field]) });
  }
  return changes.slice(0, MAX_CHANGES);
}

const side = (name: 'before' | 'after', value: unknown) =>
  value === undefined
    ? {}
    : {
        [name]: toShortText(
          toVisibleText(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')),
          MAX_SIDE,
        ),
      };
