import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestId, WireMessage } from '../messages.ts';
import { HostHungUp } from '../timing.ts';
import type { DoorHandlers } from './door.ts';
import { type MessageStream, openStream, sendJson, toRpcError } from './exchange.ts';
import {
  clientNameOf,
  type Era,
  progressTokenOf,
  readCall,
  RPC,
  type ServerInfo,
  toResult,
} from './protocol.ts';

/** A `tools/call` as it came in. */
export interface CallRequest {
  message: WireMessage;
  id: RequestId;
  era: Era;
  request: IncomingMessage;
  response: ServerResponse;
  /** Tells hosts of one door apart. */
  label: string | undefined;
  /** As the host named itself when it shook hands. */
  clientName: string | undefined;
}

export interface OpenCalls {
  /** Answers as JSON or, to a host that follows the progress, as a stream. @throws RpcError */
  answer(call: CallRequest): Promise<void>;
  /** The host takes a call back. */
  cancel(label: string | undefined, id: unknown): void;
  /** Ends all of them. */
  hangUp(): void;
}

export function createOpenCalls(info: ServerInfo, handlers: Pick<DoorHandlers, 'callTool'>): OpenCalls {
  const open = new Map<string, AbortController>();
  const nameOf = (label: string | undefined, id: unknown) => `${label ?? ''} ${JSON.stringify(id)}`;

  async function run(
    call: CallRequest,
    stream: MessageStream | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { message, id, era, response } = call;
    const progressToken = progressTokenOf(message);
    const tell = (progress: number, text: string) =>
      stream?.send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress, message: text },
      });
    const result = await handlers.callTool({
      ...readCall(message.params),
      clientName: clientNameOf(message) ?? call.clientName,
      progress: stream === undefined ? undefined : tell,
      signal,
    });
    const answer = { jsonrpc: '2.0', id, result: toResult(era, info, result) };
    if (stream === undefined) return sendJson(response, 200, answer);
    stream.send(answer);
    stream.end();
  }

  return {
    async answer(call) {
      const { message, id, era, request, response, label } = call;
      readCall(message.params);
      const follows =
        progressTokenOf(message) !== undefined &&
        (request.headers.accept ?? '').includes('text/event-stream');
      const stream = follows ? openStream(response) : undefined;
      const taken = new AbortController();
      const name = nameOf(label, id);
      open.set(name, taken);
      // In the stateless generation a host takes its call back by closing the connection; before, that says nothing.
      const onClose = () => taken.abort(era === 'handshake' ? new HostHungUp() : undefined);
      response.once('close', onClose);
      try {
        await run(call, stream, taken.signal);
      } catch (error) {
        stream?.send(toRpcError(id, RPC.internal, 'the call failed inside Kaiwu'));
        stream?.end();
        throw error;
      } finally {
        response.off('close', onClose);
        if (open.get(name) === taken) open.delete(name);
      }
    },
    cancel: (label, id) => open.get(nameOf(label, id))?.abort(),
    hangUp() {
      for (const controller of open.values()) controller.abort(new HostHungUp());
    },
  };
}
