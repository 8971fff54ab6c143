/** What every agent may see of the environment that the daemon was started in. */
const COMMON = `
  PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM TZ TMPDIR XDG_*
  HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
  NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE
  SSH_AUTH_SOCK
`
  .trim()
  .split(/\s+/);

/** Ours hold tokens and addresses, and would let an agent act as the person. */
const OURS = 'KAIWU_';

export type Environment = Record<string, string | undefined>;

/** The environment of an agent: named things only, so that nothing else leaks into it. */
export function toAgentEnvironment(
  from: Environment,
  agent: { inherit: string[]; env: Record<string, string> },
): Record<string, string> {
  const wanted = [...COMMON, ...agent.inherit];
  const result: Record<string, string> = { ...agent.env };
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && !name.startsWith(OURS) && wanted.some((pattern) => matches(name, pattern))) {
      result[name] = value;
    }
  }
  return result;
}

const matches = (name: string, pattern: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/**
 * Takes the secrets of an environment out of a text that goes to a log or a message. Short values are left alone:
 * they would blot out ordinary words.
 */
export function toRedactor(env: Record<string, string>): (text: string) => string {
  const secrets = Object.entries(env)
    .filter(([name, value]) => /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i.test(name) && value.length >= 8)
    .map(([, value]) => value);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
}
