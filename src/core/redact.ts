/** Fields whose name says that they hold a credential, in any spelling. */
const SECRET_NAME =
  /(secret|passw(or)?d|token$|api[-_]?key|authorization|credential|private[-_]?key|cookie)/i;

/** Texts that look like a credential, wherever they stand. */
const SECRET_TEXT =
  /\b(?:kw_[A-Za-z0-9_-]{20,}|Bearer\s+[A-Za-z0-9._~+/=-]{12,}|(?:sk|ghp|gho|github_pat|xox[abp])[-_][A-Za-z0-9_-]{16,}|AGE-SECRET-KEY-[A-Z0-9]+|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,})/g;

export const REDACTED = '[redacted]';

/** A copy without what looks like a credential, for logs and the audit. `secrets` names further fields of the root. */
export function redact(value: unknown, secrets: readonly string[] = []): unknown {
  if (typeof value === 'string') return value.replaceAll(SECRET_TEXT, REDACTED);
  if (Array.isArray(value)) return value.map((item) => redact(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const hidden = secrets.includes(key) || (SECRET_NAME.test(key) && typeof item === 'string');
      return [key, hidden ? REDACTED : redact(item)];
    }),
  );
}
