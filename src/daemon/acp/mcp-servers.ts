import { isSecretName } from '../../process/environment.ts';
import type { McpServerConfig } from './open.ts';

/** What a server is given that nobody may read: all of its headers, and variables by their names. */
export function secretsOf(server: McpServerConfig): string[] {
  const isHttp = 'url' in server;
  const headers = isHttp ? server.headers : [];
  const variables = (isHttp ? server.fallback?.env : server.env) ?? [];
  return [
    ...headers.map(({ value }) => value.replace(/^Bearer /, '')),
    ...variables.filter(({ name }) => isSecretName(name)).map(({ value }) => value),
  ];
}
