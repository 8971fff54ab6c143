import { readFile } from 'node:fs/promises';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { rootCertificates } from 'node:tls';
import { KaiwuError } from '../../core/errors.ts';
import type { RunnableServer } from '../../core/managed/managed.ts';

/** Headers that the connection itself sets. */
const OURS = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'last-event-id',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that a person set for a server. @throws mcp_server_unavailable naming the header, never its value */
export function toHeaders({ config }: RunnableServer): Record<string, string> {
  const headers = config.headers ?? {};
  for (const [name, value] of Object.entries(headers)) check(name, value);
  return headers;
}

/** The server's own token; undefined where it has none. @throws mcp_server_unavailable for one that no header can carry */
export function toStaticToken({ config }: RunnableServer): string | undefined {
  const token = config.token?.trim() ?? '';
  if (token === '') return undefined;
  if (!isHeaderValue('authorization', token))
    throw unusable('`token`', 'has characters that no header can carry');
  return token;
}

function check(name: string, value: string): void {
  const shown = `The header ${JSON.stringify(name.slice(0, 100))}`;
  try {
    validateHeaderName(name);
  } catch {
    throw unusable(shown, 'has a name that no header can have');
  }
  if (OURS.has(name.toLowerCase())) throw unusable(shown, 'is set by the connection itself');
  if (!isHeaderValue(name, value)) throw unusable(shown, 'has a value that no header can carry');
}

function isHeaderValue(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

const unusable = (what: string, why: string): KaiwuError =>
  new KaiwuError('mcp_server_unavailable', `${what} of the server ${why}.`, {
    hint: 'Set it anew in the settings of the server.',
  });

/** All authorities that are trusted for a server with a CA file. @throws mcp_server_unavailable naming the file */
export async function readAuthorities({ config }: RunnableServer): Promise<string[] | undefined> {
  const { caFile } = config;
  if (caFile === undefined) return undefined;
  const pem = await readFile(caFile, 'utf8').catch((error: unknown) => {
    const { code } = error as { code?: string };
    throw cannotUse(caFile, code ?? 'it cannot be read');
  });
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw cannotUse(caFile, 'it holds no PEM certificate');
  return [...rootCertificates, pem];
}

const cannotUse = (file: string, why: string): KaiwuError =>
  new KaiwuError('mcp_server_unavailable', `The CA file ${file} of the server cannot be used: ${why}.`, {
    hint: 'Set `caFile` to the PEM file of the authority, on the machine that runs the server.',
  });
