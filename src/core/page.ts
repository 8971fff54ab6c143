import { KaiwuError } from './errors.ts';

/** One page of a list, newest first. `nextCursor` is absent on the last page. */
export interface Page<T> {
  items: T[];
  nextCursor?: string;
}

/** Asks for one page. `limit` counts rows; `cursor` is a `nextCursor` from before. */
export interface PageRequest {
  limit: number;
  cursor?: string;
}

/**
 * An opaque position in a list: the sort key of the last row that was handed out. It stays right when rows are
 * inserted before it, which a row number would not.
 */
export type CursorKey = (string | number)[];

/** Encodes a position. `list` names the list, so that a cursor of another list is refused. */
export function toCursor(list: string, key: CursorKey): string {
  const bytes = new TextEncoder().encode(JSON.stringify([list, ...key]));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

/** Decodes a position. Anything but a cursor of this very list is `invalid_input`, never page one. */
export function fromCursor(list: string, cursor: string, keyTypes: ('string' | 'number')[]): CursorKey {
  const key = decode(cursor);
  if (
    !Array.isArray(key) ||
    key[0] !== list ||
    key.length !== keyTypes.length + 1 ||
    !keyTypes.every((type, i) => typeof key[i + 1] === type)
  ) {
    const message = `cursor is not one that this list gave: received ${JSON.stringify(cursor.slice(0, 60))}`;
    throw new KaiwuError('invalid_input', message, {
      hint: 'Pass nextCursor of the previous page unchanged, or leave cursor out to start again.',
      details: { issues: [{ path: 'cursor', message, received: cursor.slice(0, 60) }] },
    });
  }
  return key.slice(1) as CursorKey;
}

function decode(cursor: string): unknown {
  try {
    const bytes = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0))));
  } catch {
    return undefined;
  }
}
