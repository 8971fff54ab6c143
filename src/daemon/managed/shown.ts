import type { MachineServer } from '../../core/link.ts';
import type { RunnableServer } from '../../core/managed/managed.ts';
import { HIDDEN, redactText } from '../../core/redact.ts';

type Config = RunnableServer['config'];

const SECRET = String.raw`[\w.-]*(?:token|secret|passw(?:or)?d|key|auth|credential)s?`;
/** A flag whose value, in the next argument, is a secret. */
const SECRET_FLAG = new RegExp(`^--?${SECRET}$`, 'i');
/** One whose value stands behind it. */
const SECRET_SETTING = new RegExp(`^(${SECRET}=).*$`, 'is');

/** What may leave the machine of a server of its own file: no secret value, and of an address only scheme and host. */
export function toShownConfig(config: Config): NonNullable<MachineServer['config']> {
  const { token: _, headers: __, env: ___, ...shown } = config;
  return {
    ...shown,
    ...(config.url === undefined ? {} : { url: toOrigin(config.url) }),
    ...(config.args === undefined ? {} : { args: toShownArgs(config.args) }),
  };
}

const toShownArgs = (args: string[]): string[] =>
  args.map((arg, i) =>
    SECRET_FLAG.test(args[i - 1] ?? '') ? HIDDEN : redactText(arg.replace(SECRET_SETTING, `$1${HIDDEN}`)),
  );

function toOrigin(url: string): string {
  try {
    const { protocol, host } = new URL(url);
    return `${protocol}//${host}`;
  } catch {
    return HIDDEN;
  }
}

/** Names of the secret values that are set. */
export const secretsOf = ({ token, headers = {}, env = {} }: Config): string[] => [
  ...(token ? ['token'] : []),
  ...Object.keys(headers).map((name) => `headers.${name}`),
  ...Object.keys(env).map((name) => `env.${name}`),
];
