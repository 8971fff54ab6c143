import { KaiwuError } from '../../core/errors.ts';
import type { ServerConfig } from '../../core/managed/config.ts';
import type { StoredServer } from '../store/managed-store.ts';
import { requireWhole } from './secrets.ts';
import { BACKEND } from './states.ts';

/** Bytes of one server's settings in JSON: those of all servers of a machine fit into one frame of its link. */
const MAX_BYTES = 64 * 1024;

/** @throws invalid_input naming the field and what would do */
export function requireRunnable(config: ServerConfig): void {
  const { url, command, where } = config;
  if ((url === undefined) === (command === undefined)) {
    const which = url === undefined ? 'neither is given' : 'both are given';
    throw invalid('url', `or command is needed, and one of them alone: ${which}`);
  }
  if (url !== undefined) {
    if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
      throw invalid('url', 'is no address that begins with https:// or http://');
    }
    if (where !== undefined && where !== BACKEND) {
      throw invalid('where', `is ${BACKEND} for a server with a url: only programs run on a machine`);
    }
  }
  for (const field of ['cwd', 'caFile'] as const) {
    const path = config[field];
    if (path !== undefined && !/^(\/|~\/|~$|[A-Za-z]:[\\/])/.test(path)) {
      throw invalid(field, 'must begin with / or ~/, since it is not read beside a configuration file');
    }
  }
  requireWhole(config);
  const bytes = Buffer.byteLength(JSON.stringify(config));
  if (bytes > MAX_BYTES)
    throw invalid('', `the settings have ${bytes} bytes; a server has at most ${MAX_BYTES}`);
}

/** @throws conflict: what stands in a machine's file is changed there */
export function requireOfAccount({ name, source, place }: StoredServer): void {
  if (source === 'account') return;
  throw new KaiwuError(
    'conflict',
    `The MCP server ${name} is in the configuration file of machine ${place}.`,
    {
      hint: 'Change it in that file; its daemon follows the file.',
      details: { name, where: place },
    },
  );
}

const invalid = (path: string, message: string): KaiwuError =>
  new KaiwuError('invalid_input', `${path === '' ? 'The server' : path}: ${message}.`, {
    details: { issues: [{ path, message }] },
  });

export const nameTaken = ({ name, source, place }: StoredServer): KaiwuError =>
  new KaiwuError(
    'conflict',
    `The name ${name} is taken by ${source === 'file' ? `a server in the file of machine ${place}` : 'another MCP server'}.`,
    { hint: 'Choose another name, or remove that server first.', details: { name, source, where: place } },
  );

export const serverNotFound = (name: string, names: readonly string[]): KaiwuError =>
  new KaiwuError('mcp_server_not_found', `There is no MCP server ${JSON.stringify(name.slice(0, 80))}.`, {
    hint:
      names.length === 0
        ? 'None is configured: `kaiwu mcp servers add`.'
        : `There are: ${names.slice(0, 20).join(', ')}.`,
    details: { received: name.slice(0, 80) },
  });
