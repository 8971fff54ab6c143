import type { Fields } from './hosts.ts';

/** Codex names variables where others write a reference: the token, headers and what a program gets of the environment. */
export function toCodexEntry(entry: Fields): Fields {
  const { bearer_token_env_var: token, env_http_headers: headers, env_vars: names, ...others } = entry;
  const given: Fields = { ...others };
  if (typeof token === 'string') given['token'] = toReference(token);
  if (isRecord(headers)) {
    const known = others['http_headers'] ?? others['headers'];
    given['http_headers'] = { ...(isRecord(known) ? known : {}), ...toReferences(Object.entries(headers)) };
  }
  if (Array.isArray(names)) {
    const known = others['env'];
    const pairs = names.filter((name) => typeof name === 'string').map((name) => [name, name] as const);
    given['env'] = { ...toReferences(pairs), ...(isRecord(known) ? known : {}) };
  }
  return given;
}

const toReference = (variable: string): string => `\${env:${variable}}`;

const toReferences = (pairs: readonly (readonly [string, unknown])[]): Fields =>
  Object.fromEntries(
    pairs.map(([name, variable]) => [name, typeof variable === 'string' ? toReference(variable) : variable]),
  );

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
