import { KaiwuError } from '../../core/errors.ts';
import { SECRET_FIELDS, type ServerConfig } from '../../core/managed/config.ts';
import { HIDDEN, redactArguments, redactText } from '../../core/redact.ts';
import type { ShownConfig } from '../store/managed-store.ts';

/** What of a server's settings is sealed: its secret fields, and others whole where something in them looks like a credential. */
export type SecretPart = Partial<
  Pick<ServerConfig, 'token' | 'headers' | 'env' | 'url' | 'args' | 'command'>
>;

export interface SplitConfig {
  shown: ShownConfig;
  secret: SecretPart;
  /** `token`, `headers.X-Api-Key`, `env.API_KEY`; `url` and `args` where a part of them is hidden. */
  names: string[];
}

/** Takes apart what may be shown and what is sealed. */
export function splitConfig(config: ServerConfig): SplitConfig {
  const { token, headers = {}, env = {}, ...rest } = config;
  const shown: ShownConfig = {
    ...rest,
    ...(rest.url === undefined ? {} : { url: redactText(rest.url) }),
    ...(rest.command === undefined ? {} : { command: redactText(rest.command) }),
    ...(rest.args === undefined ? {} : { args: redactArguments(rest.args) }),
  };
  const hidden = (['url', 'command', 'args'] as const).filter(
    (field) => JSON.stringify(shown[field]) !== JSON.stringify(rest[field]),
  );
  const secret: SecretPart = {
    // An empty token is none.
    ...(token === undefined || token === '' ? {} : { token }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...Object.fromEntries(hidden.map((field) => [field, rest[field]])),
  };
  const names = [
    ...(secret.token === undefined ? [] : ['token']),
    ...Object.keys(headers).map((name) => `headers.${name}`),
    ...Object.keys(env).map((name) => `env.${name}`),
    ...hidden,
  ];
  return { shown, secret, names };
}

/** Puts them together again. */
export const joinConfig = (shown: ShownConfig, secret: SecretPart): ServerConfig => ({ ...shown, ...secret });

/** What was read back with its secrets hidden must not be stored as if it were whole. @throws invalid_input */
export function requireWhole(config: Partial<Record<keyof ServerConfig, unknown>>): void {
  for (const field of ['url', 'command', 'args', ...SECRET_FIELDS] as const) {
    if (!(JSON.stringify(config[field]) ?? '').includes(HIDDEN)) continue;
    const message = `holds ${HIDDEN}, which stands for a value that is not shown`;
    throw new KaiwuError('invalid_input', `${field} ${message}.`, {
      hint: `Give the value itself, or leave ${field} out to keep what is set.`,
      details: { issues: [{ path: field, message }] },
    });
  }
}
