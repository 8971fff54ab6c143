/** Deepest nesting of what a server says that is looked at. Walks over what is deeper could exhaust the stack. */
export const MAX_NESTING = 64;

/** Whether a JSON value is nested deeper than `limit`. Walks in rows, so that it bears any depth itself. */
export function isDeeper(value: unknown, limit = MAX_NESTING): boolean {
  let row: unknown[] = [value];
  for (let depth = 0; row.length > 0; depth++) {
    if (depth > limit) return true;
    row = row.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

/** The value with `…` for what is deeper than `limit`. */
export function cutNesting<T>(value: T, limit = MAX_NESTING): T {
  if (typeof value !== 'object' || value === null) return value;
  if (limit <= 0) return '…' as T;
  if (Array.isArray(value)) return value.map((item: unknown) => cutNesting(item, limit - 1)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, cutNesting<unknown>(item, limit - 1)]),
  ) as T;
}
