import type { ServerConfig } from '../core/managed/config.ts';
import { HIDDEN, redactText } from '../core/redact.ts';
import { isSecretName } from '../process/environment.ts';

/** Takes the secrets of a server out of a text. */
export type Hide = (text: string) => string;

/** A secret is known by so many of its first characters: programs like to show the start of a key. */
const HEAD = 8;
/** Shorter values would blot out ordinary words. */
const SHORTEST = 6;

/** Everything that a person wrote for a server and that nobody else may read. */
export function createHide(config: ServerConfig): Hide {
  const secrets = [...new Set([...named(config), ...ofArgs(config.args ?? []), ...ofUrl(config.url)])].filter(
    (value) => value.length >= SHORTEST,
  );
  // A secret that holds another goes first, or its rest would stay.
  secrets.sort((a, b) => b.length - a.length);
  return (text) => redactText(secrets.reduce(hideOne, text));
}

function* named({ token, headers = {}, env = {} }: ServerConfig): Iterable<string> {
  if (token !== undefined) yield token.trim();
  for (const value of Object.values(headers)) {
    yield value;
    // `Bearer abc` and `key=abc`: the scheme is no secret, and the rest may be shown alone.
    yield* value.split(/[\s=]+/).slice(1);
  }
  for (const value of Object.values(env)) {
    yield value;
    yield* ofUrl(value);
  }
}

/** Secrets in an argument list: values of flags and variables whose name says so, and passwords in addresses. */
function* ofArgs(args: readonly string[]): Iterable<string> {
  for (const [i, arg] of args.entries()) {
    const [name = '', ...rest] = arg.split('=');
    if (rest.length > 0 && isSecretName(name)) yield rest.join('=');
    const next = args[i + 1];
    if (rest.length === 0 && arg.startsWith('-') && isSecretName(arg) && next !== undefined) yield next;
    yield* ofUrl(rest.length > 0 ? rest.join('=') : arg);
  }
}

function* ofUrl(text: string | undefined): Iterable<string> {
  if (text === undefined || !URL.canParse(text)) return;
  const { username, password, search } = new URL(text);
  for (const part of [username, password]) {
    yield part;
    yield decodeURIComponentSafely(part);
  }
  for (const [name, value] of new URLSearchParams(search)) if (isSecretName(name)) yield value;
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Folders, addresses and words also begin like much that is no secret: they go only as a whole. */
const isOwnKind = (secret: string): boolean =>
  secret.length > HEAD && /\d/.test(secret) && !/^([/~.]|[a-z][a-z0-9+.-]*:\/\/)/i.test(secret);

function hideOne(text: string, secret: string): string {
  if (!isOwnKind(secret)) return text.replaceAll(secret, HIDDEN);
  const head = secret.slice(0, HEAD);
  let result = '';
  let from = 0;
  for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, from)) {
    let end = at + HEAD;
    while (end - at < secret.length && text[end] === secret[end - at]) end += 1;
    result += text.slice(from, at) + HIDDEN;
    from = end;
  }
  return result + text.slice(from);
}
