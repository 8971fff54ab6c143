import type {
  JSONRPCMessage,
  JSONRPCRequest,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { type BoundedFetch, toOwnHeaders } from './create-fetch.ts';
import { unavailable } from './explain.ts';

/** What waits for an answer. */
interface Exchange {
  answered(message: JSONRPCMessage): void;
  abort(): void;
  fail(error: Error): void;
}

/** The requests of one connection that wait for their answers. */
export interface Exchanges {
  /** The network, as it is to be used for them. */
  fetch: BoundedFetch['fetch'];
  /**
   * Sends a request and holds until its answer has come, nothing can come any more, or it is called off, which gives undefined.
   * @throws what the transport throws | mcp_server_unavailable | payload_too_large
   */
  send(
    to: Transport,
    message: JSONRPCRequest,
    how?: TransportSendOptions,
  ): Promise<JSONRPCMessage | undefined>;
  answered(message: JSONRPCMessage & { id?: unknown }): void;
  has(id: unknown): boolean;
  callOff(id: unknown): void;
  callOffAll(): void;
}

const HEADER = 'kaiwu-exchange';
const LOST_HINT = 'The call may have been taken: look before you repeat it.';

export function createExchanges(url: URL, network: BoundedFetch['fetch']): Exchanges {
  const open = new Map<unknown, Exchange>();
  /** By the number that their requests carry as far as `fetch`. */
  const numbered = new Map<string, Exchange>();
  let count = 0;

  return {
    fetch: async (input, init = {}) => {
      const headers = toOwnHeaders(init);
      const own = numbered.get(headers.get(HEADER) ?? '');
      headers.delete(HEADER);
      if (own === undefined) return network(input, { ...init, headers });
      const response = await network(input, { ...init, headers, onTooLarge: (error) => own.fail(error) });
      if (response.status === 202) {
        own.fail(unavailable(url, 'it took a request without an answer (HTTP 202)'));
      }
      return response;
    },

    send(to, message, how) {
      const calledOff = new AbortController();
      const signals = [calledOff.signal, ...(how?.requestSignal === undefined ? [] : [how.requestSignal])];
      const requestSignal = signals.length === 1 ? calledOff.signal : AbortSignal.any(signals);
      const number = String(++count);
      return new Promise<JSONRPCMessage | undefined>((resolve, reject) => {
        const abort = () => calledOff.abort();
        const fail = (error: Error) => {
          reject(error);
          abort();
        };
        const one = { answered: resolve, abort, fail };
        open.set(message.id, one);
        // Elsewhere the answer is always taken without one, and comes on the stream.
        if (to.hasPerRequestStream === true) numbered.set(number, one);
        requestSignal.addEventListener('abort', () => resolve(undefined), { once: true });
        const onRequestStreamEnd = () => {
          how?.onRequestStreamEnd?.();
          reject(unavailable(url, 'the connection broke before the answer was there', LOST_HINT));
        };
        const headers = { ...how?.headers, [HEADER]: number };
        to.send(message, { ...how, headers, requestSignal, onRequestStreamEnd }).catch(reject);
      }).finally(() => {
        open.delete(message.id);
        numbered.delete(number);
      });
    },

    answered: (message) => open.get(message.id)?.answered(message),
    has: (id) => open.has(id),
    callOff: (id) => open.get(id)?.abort(),
    callOffAll() {
      for (const { abort } of open.values()) abort();
    },
  };
}
