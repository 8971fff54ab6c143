export type RequestId = string | number;

/** A JSON-RPC message in the shape that is passed on: nothing but these keys. */
export interface WireMessage {
  jsonrpc: '2.0';
  id?: RequestId;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string };
}

/** An answer to what could not even be passed on. The id is `null` where none can be told. */
export interface Refusal {
  jsonrpc: '2.0';
  id: RequestId | null;
  error: { code: number; message: string };
}

export type Received = { pass: WireMessage } | { refuse: Refusal } | { ignore: string };

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

/** Reads one line. A batch, which one revision of the protocol had, is read as its parts. */
export function readLine(line: string): Received[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [refuse(null, PARSE_ERROR, `not JSON: a line of ${line.length} characters`)];
  }
  if (!Array.isArray(value)) return [readMessage(value)];
  return value.length === 0 ? [refuse(null, INVALID_REQUEST, 'an empty batch')] : value.map(readMessage);
}

function readMessage(value: unknown): Received {
  if (!isRecord(value)) return refuse(null, INVALID_REQUEST, `not a JSON-RPC message: ${typeof value}`);
  const id = isRequestId(value['id']) ? value['id'] : undefined;
  const method = value['method'];
  if (typeof method !== 'string') {
    if ('result' in value || 'error' in value)
      return { ignore: 'an answer to a request that was never made' };
    return refuse(id ?? null, INVALID_REQUEST, 'a message without a method');
  }
  if (value['jsonrpc'] !== '2.0') return refuse(id ?? null, INVALID_REQUEST, 'jsonrpc must be "2.0"');
  if ('id' in value && id === undefined) {
    return refuse(null, INVALID_REQUEST, 'the id must be a string or a whole number');
  }
  const params = value['params'] ?? undefined;
  if (params !== undefined && !isRecord(params)) {
    return id === undefined
      ? { ignore: `a notification ${method} whose params are not an object` }
      : refuse(id, INVALID_PARAMS, `the params of ${method} must be an object`);
  }
  return {
    pass: {
      jsonrpc: '2.0',
      ...(id === undefined ? {} : { id }),
      method,
      ...(params === undefined ? {} : { params: withoutNulls(params) }),
    },
  };
}

/** Hosts send `null` where they mean nothing; the protocol's own parts of the params know no null. */
function withoutNulls(params: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
}

/** The id stands near one end of a message, so it can be told from a line that was not kept. */
export function refuseTooLong(head: string, tail: string, maxBytes: number): Refusal {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*,/.exec(head) ??
    /,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  const id = found === null ? null : (JSON.parse(found[1] ?? 'null') as RequestId);
  return refuse(id, INVALID_REQUEST, `too large: the message is longer than ${maxBytes} bytes`).refuse;
}

const refuse = (id: RequestId | null, code: number, message: string): { refuse: Refusal } => ({
  refuse: { jsonrpc: '2.0', id, error: { code, message } },
});

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isRequestId = (value: unknown): value is RequestId =>
  typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value));
