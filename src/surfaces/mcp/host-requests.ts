import type { Envelope } from '../../core/call.ts';
import type { ErrorCode, WireError } from '../../core/errors.ts';
import type { ActionManifest, HostMethod } from '../../core/spec.ts';
import { HOST_SHAPES } from './host-methods.ts';
import { RPC, RpcError } from './http/protocol.ts';
import type { ToolCalls } from './tool-calls.ts';

/** A request of a host for anything but tools, whatever its protocol generation. */
export interface HostRequest {
  method: HostMethod;
  params: Record<string, unknown>;
  /** The host's own name. */
  clientName: string | undefined;
  /** Aborted when the host canceled the request. */
  signal: AbortSignal;
}

export interface HostRequests {
  /** @throws RpcError with the code of the generations before 2026-07-28 */
  answer(request: HostRequest): Promise<Record<string, unknown>>;
  /** The same, as the action gave it. */
  read(request: HostRequest): Promise<Record<string, unknown>>;
}

/** What the actions behind the lists answer as far as it was built in, for when the backend is out of reach. */
export type BuiltinAnswers = Partial<Record<HostMethod, Record<string, unknown>>>;

/** Codes with which the backend has said nothing of the request itself. */
const OUT_OF_REACH = new Set<ErrorCode>(['backend_unreachable', 'timeout', 'canceled']);

/** An address that leads nowhere, whatever the part that is missing. */
const NOT_THERE = new Set<ErrorCode>(['not_found', 'session_not_found', 'session_ambiguous']);

/** Requests of hosts become calls of the actions that answer them, which are told by the catalog of this version. */
export function createHostRequests(options: {
  calls: Pick<ToolCalls, 'ask'>;
  builtin(): Promise<ActionManifest[]>;
  builtinAnswers(): Promise<BuiltinAnswers>;
}): HostRequests {
  let names: Promise<Map<HostMethod, string>> | undefined;

  async function findNames(): Promise<Map<HostMethod, string>> {
    const manifests = await options.builtin();
    return new Map(manifests.flatMap(({ answers, id }) => (answers === undefined ? [] : [[answers, id]])));
  }

  async function read({ method, params, clientName, signal }: HostRequest) {
    names ??= findNames();
    const name = (await names).get(method);
    if (name === undefined) throw new RpcError(RPC.methodNotFound, 'Method not found');
    const args = HOST_SHAPES[method].toInput(params);
    const envelope = await options.calls.ask({ name, args, clientName, progress: undefined, signal });
    if (envelope.status === 'ok') return envelope.output;
    if (envelope.status === 'error' && OUT_OF_REACH.has(envelope.error.code)) {
      const answer = (await options.builtinAnswers())[method];
      if (answer !== undefined) return answer;
    }
    throw toRpcError(method, params, envelope);
  }

  return {
    read,
    async answer(request) {
      const shape = HOST_SHAPES[request.method];
      const cursor = shape.isList === true ? request.params['cursor'] : undefined;
      // Each list is one page, so no cursor was ever given out.
      if (cursor !== undefined) {
        throw new RpcError(RPC.invalidParams, `unknown cursor ${JSON.stringify(cursor).slice(0, 80)}`);
      }
      return shape.toResult(await read(request));
    },
  };
}

function toRpcError(
  method: HostMethod,
  params: Record<string, unknown>,
  envelope: Exclude<Envelope, { status: 'ok' }>,
): RpcError {
  if (envelope.status === 'approval_required') {
    const message = 'A person has to approve this first; it can be read once that is done.';
    return new RpcError(RPC.refused, message, 200, { ...envelope.approval });
  }
  const { error } = envelope;
  if (method === 'resources/read' && NOT_THERE.has(error.code)) {
    // By this data alone clients of every generation know what it means.
    return new RpcError(RPC.resourceNotFound, toSentence(error), 200, { uri: params['uri'] });
  }
  const { message: _, ...data } = error;
  return new RpcError(toRpcCode(error.code), toSentence(error), 200, { ...data });
}

const toSentence = ({ message, hint }: WireError): string => [message, hint].filter(Boolean).join(' ');

function toRpcCode(code: ErrorCode): number {
  if (code === 'invalid_input' || code === 'not_found') return RPC.invalidParams;
  return code === 'internal' ? RPC.internal : RPC.refused;
}
