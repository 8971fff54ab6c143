/** Deepest nesting of what a server says that is looked at. Walks over what is deeper could exhaust the stack. */
export const MAX_NESTING = 64;

/** Deepest nesting of a message that is passed on. JSON of some thousand levels is read, and cannot be written again. */
export const MAX_MESSAGE_NESTING = 256;

/** Whether a JSON value is nested deeper than `limit`. Goes no deeper itself; each message of a server is looked at. */
export function isDeeper(value: unknown, limit = MAX_NESTING): boolean {
  if (limit < 0) return true;
  if (typeof value !== 'object' || value === null) return false;
  const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return items.some((item) => isDeeper(item, limit - 1));
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
