/** What every program that we start for a person may see of the environment that we were started in. */
const COMMON = `
  PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM TZ TMPDIR XDG_*
  HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
  NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE
  SSH_AUTH_SOCK
`
  .trim()
  .split(/\s+/);

/** Ours hold tokens and addresses, and would let a program act as the person. */
const OURS = 'KAIWU_';

export type Environment = Record<string, string | undefined>;

/**
 * The environment of an agent or of a managed server: named things only, so that nothing else leaks into it. What the person
 * gave the program itself comes first, as `secretEnv`.
 */
export function toChildEnvironment(
  from: Environment,
  agent: { inherit: string[]; env: Record<string, string>; secretEnv?: Record<string, string> },
): Record<string, string> {
  const wanted = [...COMMON, ...agent.inherit];
  const result: Record<string, string> = { ...agent.env };
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && !name.startsWith(OURS) && wanted.some((pattern) => matches(name, pattern))) {
      result[name] = value;
    }
  }
  return withOwnMachine({ ...result, ...agent.secretEnv });
}

const OWN_MACHINE = ['127.0.0.1', 'localhost'];

/** The tools of a session are on this machine. Behind a proxy an agent would not find them, and would show it their bearer. */
export function withOwnMachine(env: Record<string, string>): Record<string, string> {
  if (!Object.keys(env).some((name) => /^(http|https|all)_proxy$/i.test(name))) return env;
  const given = `${env.no_proxy ?? ''},${env.NO_PROXY ?? ''}`.split(',').map((part) => part.trim());
  const names = [...new Set([...given, ...OWN_MACHINE])].filter((part) => part !== '').join(',');
  return { ...env, no_proxy: names, NO_PROXY: names };
}

const matches = (name: string, pattern: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

export const isSecretName = (name: string): boolean => /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i.test(name);

/** Shorter values are left alone: they would blot out ordinary words. */
const MIN_SECRET = 6;

/** Takes the secrets of an environment, and further ones, out of a text that goes to a log or a message. */
export function toRedactor(env: Record<string, string>, more: string[] = []): (text: string) => string {
  const named = Object.entries(env)
    .filter(([name, value]) => isSecretName(name) && value.length >= 8)
    .map(([, value]) => value);
  const secrets = [...named, ...more.filter((value) => value.length >= MIN_SECRET)];
  // A secret that holds another goes first, or its rest would stay.
  secrets.sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
}
