import { UNNAMED } from './limits.ts';

/** Characters of a server's name: what is left of a tool's name is for the tool. */
export const MAX_SERVER_NAME = 32;

/**
 * A name for a server, made of what was wanted: letters, digits, `_` and `-`, a letter first, no two `_` in a row and none at the end
 * (`<server>__<tool>` must fall apart again), at most `MAX_SERVER_NAME` characters, and with a number behind it where it is taken.
 * @param taken names in use; compared in any letter case
 */
export function makeUniqueName(wanted: string | undefined, taken: Iterable<string>): string {
  const used = new Set([...taken].map((name) => name.toLowerCase()));
  const base = toServerName(wanted ?? UNNAMED);
  let name = base;
  for (let count = 2; used.has(name.toLowerCase()); count++) {
    const suffix = `-${count}`;
    name = trimEnd(base.slice(0, MAX_SERVER_NAME - suffix.length)) + suffix;
  }
  return name;
}

function toServerName(wanted: string): string {
  const plain = wanted
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/_{2,}/g, '_')
    .replace(/^[^A-Za-z]+/, '');
  return trimEnd(plain.slice(0, MAX_SERVER_NAME)) || UNNAMED;
}

const trimEnd = (name: string): string => name.replace(/[_-]+$/, '');
