/** Stands where a secret stood. */
export const HIDDEN = '[redacted]';

/** Names of fields, headers and variables that hold credentials; `tokenId` and the like only name one. */
const SECRET_NAME =
  /(token|secret|passw(or)?d|passphrase|authorization|cookie|credential|private[-_]?key|api[-_]?key|access[-_]?key|[-_a-z]key)s?$/i;

/** Names that end so and are no secrets. */
const PLAIN_NAME = /^(idempotency[-_]?key|public[-_]?key|keys?)$/i;

/** Every repetition before an anchor is bounded: megabytes of a stranger's text pass through here. */
const SECRET_TEXT: [RegExp, string][] = [
  // Tokens of our own.
  [/\bkw[a-z]{0,10}_[A-Za-z0-9_-]{8,}/g, HIDDEN],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${HIDDEN}`],
  // User and password in an address.
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@]{1,500}@/gi, `$1${HIDDEN}@`],
  // name=value and "name": "value", as in an environment, a query or a header.
  [
    /((?:[\w-]{0,40}(?:token|secret|passw(?:or)?d|authorization|api[-_]?key|access[-_]?key))["']?\s{0,8}[=:]\s{0,8}["']?)(?!\[redacted\]|(?:bearer|basic)\s)[^\s"'&,;}]+/gi,
    `$1${HIDDEN}`,
  ],
  // Names that are too plain for other places, in the query of an address.
  [/([?&](?:key|auth|sig|signature)=)(?!\[redacted\])[^\s"'&#]+/gi, `$1${HIDDEN}`],
  // A header with cookies, whole.
  [/(\b(?:set-)?cookie:\s{0,8})[^\r\n"']+/gi, `$1${HIDDEN}`],
  // The value of a flag, as in an argument list.
  [/(--[\w-]{0,40}(?:token|secret|password|key)\s+)(?!-)\S+/gi, `$1${HIDDEN}`],
  // Keys of well-known services.
  [/\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abps]|AKIA|AIza)[-_A-Za-z0-9]{12,}/g, HIDDEN],
  // Secret keys of age.
  [/\bAGE-SECRET-KEY-[A-Z0-9-]{8,}/gi, HIDDEN],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, HIDDEN],
];

/** A flag whose value is the next argument. */
const SECRET_FLAG = /^--?[\w-]{0,40}(token|secret|passw(or)?d|credential|authorization|key)s?$/i;

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Arguments of a program without what looks like a credential, by its look or by the flag before it. */
export const redactArguments = (args: readonly string[]): string[] =>
  args.map((arg, i) =>
    SECRET_FLAG.test(args[i - 1] ?? '') && !arg.startsWith('-') ? HIDDEN : redactText(arg),
  );

/** How deep a value is looked into; deeper parts are left out. */
const MAX_DEPTH = 12;

/** A text without what looks like a credential. */
export function redactText(text: string): string {
  return SECRET_TEXT.reduce((left, [pattern, replacement]) => left.replaceAll(pattern, replacement), text);
}

/**
 * A copy of an object without what looks like a credential, by the names of fields and by the look of texts; for logs, the
 * audit and whatever is stored. `secrets` names further fields of the root.
 */
export function redact(fields: object, secrets: readonly string[] = []): Record<string, unknown> {
  const declared = Object.fromEntries(secrets.filter((name) => name in fields).map((name) => [name, HIDDEN]));
  return redactObject({ ...fields, ...declared }, 0, new Set());
}

function redactObject(value: object, depth: number, above: Set<unknown>): Record<string, unknown> {
  const inside = new Set(above).add(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isSecret(name, item)
        ? HIDDEN
        : redactValue(isEnvironment(name, item) ? namesOf(item) : item, depth + 1, inside),
    ]),
  );
}

/** Variables for a process: their names tell what they are, their values are nobody's business. */
const isEnvironment = (name: string, value: unknown): value is object =>
  /^env(ironment)?$/i.test(name) && typeof value === 'object' && value !== null && !Array.isArray(value);

const namesOf = (environment: object): object =>
  Object.fromEntries(Object.keys(environment).map((name) => [name, HIDDEN]));

const isSecret = (name: string, value: unknown): boolean =>
  value !== undefined && value !== null && SECRET_NAME.test(name) && !PLAIN_NAME.test(name);

function redactValue(value: unknown, depth: number, above: Set<unknown>): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
  if (depth > MAX_DEPTH || above.has(value)) return '[left out]';
  if (value instanceof Error) return redactError(value, depth, above);
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (isTexts(value)) return redactArguments(value);
  if (Array.isArray(value))
    return value.map((item) => redactValue(item, depth + 1, new Set(above).add(value)));
  return redactObject(value, depth, above);
}

/** Errors of libraries carry requests with their headers: only what tells the cause is taken. */
function redactError(error: Error, depth: number, above: Set<unknown>): Record<string, unknown> {
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: redactText(error.message),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause === undefined
      ? {}
      : { cause: redactValue(error.cause, depth + 1, new Set(above).add(error)) }),
  };
}
