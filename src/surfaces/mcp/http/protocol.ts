import type { IncomingHttpHeaders } from 'node:http';
import { isRecord, type WireMessage } from '../messages.ts';

/** Revisions with a handshake, newest first. */
const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
/** The revision in which each request stands for itself. */
export const STATELESS_VERSION = '2026-07-28';

/** Field of the params that the header Mcp-Name repeats. */
const NAME_FIELDS: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CLIENT = 'io.modelcontextprotocol/clientInfo';
const META_SERVER = 'io.modelcontextprotocol/serverInfo';
const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** How long a host may keep a list that it does not follow, milliseconds. */
const LIST_TTL_MS = 5000;

export const RPC = {
  invalidRequest: -32600,
  /** Until 2025-11-25; the stateless generation says `invalidParams`. */
  resourceNotFound: -32002,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The server's own: refused before it was looked at. */
  refused: -32000,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

/** An error of the protocol, and the HTTP status that carries it. */
export class RpcError extends Error {
  readonly code: number;
  readonly status: number;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: number, message: string, status = 200, data?: Record<string, unknown>) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

/** What hosts are told that this server can. */
export const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  prompts: {},
  completions: {},
};

export type Era = 'handshake' | 'stateless';

export interface ServerInfo {
  version: string;
  instructions: string;
}

/** Whether a message claims to stand for itself. */
export const isStateless = (message: WireMessage): boolean => metaOf(message)?.[META_VERSION] !== undefined;

/** Which generation a message belongs to. @throws RpcError where its headers and its body disagree */
export function eraOf(message: WireMessage, headers: IncomingHttpHeaders): Era {
  const header = one(headers['mcp-protocol-version']);
  const version = metaOf(message)?.[META_VERSION];
  if (version === undefined) {
    if (header === STATELESS_VERSION) {
      const data = { envelope: { missing: [META_VERSION] } };
      throw new RpcError(
        RPC.invalidParams,
        `a request of ${header} carries ${META_VERSION} in _meta`,
        400,
        data,
      );
    }
    if (header !== undefined && !HANDSHAKE_VERSIONS.includes(header)) {
      throw new RpcError(RPC.refused, `unknown MCP-Protocol-Version ${header.slice(0, 40)}`, 400);
    }
    return 'handshake';
  }
  if (version !== STATELESS_VERSION) {
    const data = { supported: [STATELESS_VERSION], requested: version };
    throw new RpcError(RPC.unsupportedVersion, 'this protocol version is not spoken here', 400, data);
  }
  const name = message.params?.[NAME_FIELDS[message.method ?? ''] ?? ''];
  const expected = {
    'mcp-protocol-version': version,
    'mcp-method': message.method,
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
  };
  for (const [key, value] of Object.entries(expected)) {
    const got = one(headers[key]);
    if (got === value) continue;
    const data = { mismatch: { header: got?.slice(0, 100) ?? '(missing)', body: value } };
    throw new RpcError(RPC.headerMismatch, `the header ${key} and the body disagree`, 400, data);
  }
  return 'stateless';
}

/** Answer to `initialize`: the version that was asked for, where it is spoken. */
export const toInitialized = (info: ServerInfo, params: WireMessage['params']) => ({
  protocolVersion:
    HANDSHAKE_VERSIONS.find((version) => version === params?.['protocolVersion']) ?? HANDSHAKE_VERSIONS[0],
  capabilities: CAPABILITIES,
  serverInfo: toIdentity(info),
  instructions: info.instructions,
});

export const toDiscovered = (info: ServerInfo) => ({
  supportedVersions: [STATELESS_VERSION],
  capabilities: CAPABILITIES,
  instructions: info.instructions,
  ttlMs: 0,
  cacheScope: 'private',
});

/** A result in the shape of its generation. */
export const toResult = (era: Era, info: ServerInfo, result: Record<string, unknown>) =>
  era === 'handshake'
    ? result
    : { ...result, resultType: 'complete', _meta: { [META_SERVER]: toIdentity(info) } };

export const LIST_HINTS = { ttlMs: LIST_TTL_MS, cacheScope: 'private' };

export const toUpdated = (uri: string, subscriptionId?: string | number) => ({
  jsonrpc: '2.0',
  method: 'notifications/resources/updated',
  params: {
    uri,
    ...(subscriptionId === undefined ? {} : { _meta: { [META_SUBSCRIPTION]: subscriptionId } }),
  },
});

export const toListChanged = (subscriptionId?: string | number) => ({
  jsonrpc: '2.0',
  method: 'notifications/tools/list_changed',
  ...(subscriptionId === undefined ? {} : { params: { _meta: { [META_SUBSCRIPTION]: subscriptionId } } }),
});

/** @param notifications what will be told of all that was asked for */
export const toAcknowledged = (subscriptionId: string | number, notifications: object) => ({
  jsonrpc: '2.0',
  method: 'notifications/subscriptions/acknowledged',
  params: {
    notifications,
    _meta: { [META_SUBSCRIPTION]: subscriptionId },
  },
});

/** The host's own name, where the message tells it. */
export function clientNameOf(message: WireMessage): string | undefined {
  const info =
    message.method === 'initialize' ? message.params?.['clientInfo'] : metaOf(message)?.[META_CLIENT];
  const name = isRecord(info) ? info['name'] : undefined;
  return typeof name === 'string' ? name.slice(0, 100) : undefined;
}

export function progressTokenOf(message: WireMessage): string | number | undefined {
  const token = metaOf(message)?.['progressToken'];
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** @throws RpcError */
export function requireUri(uri: unknown): string {
  if (typeof uri === 'string') return uri;
  throw new RpcError(RPC.invalidParams, 'the uri must be a string');
}

/** Name and arguments of a call. @throws RpcError */
export function readCall(params: WireMessage['params']): { name: string; args: Record<string, unknown> } {
  const name = params?.['name'];
  const args = params?.['arguments'] ?? {};
  if (typeof name !== 'string') throw new RpcError(RPC.invalidParams, 'tools/call takes the name of a tool');
  if (!isRecord(args))
    throw new RpcError(RPC.invalidParams, `the arguments of ${name.slice(0, 80)} must be an object`);
  return { name, args };
}

const toIdentity = ({ version }: ServerInfo) => ({ name: 'kaiwu', title: 'Kaiwu', version });

const metaOf = ({ params }: WireMessage): Record<string, unknown> | undefined =>
  isRecord(params?.['_meta']) ? params['_meta'] : undefined;

const one = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;
