import type { IncomingMessage } from 'node:http';
import { KaiwuError } from '../core/errors.ts';
import { ACCOUNT_KEY_PATH, FILES_PATH, RECIPIENT, type SealedFile, WAITING_PATH } from '../core/file.ts';
import { createHttp, expectOk, type HttpAnswer, type HttpOptions } from './http.ts';
import { toTransportError } from './http-errors.ts';

/** Ciphertext of files, and the account's public key. Every call @throws backend_unreachable | timeout | not_authenticated | forbidden. */
export interface FileClient {
  /** Brings ciphertext to the backend. @throws not_found | file_too_large | what the stream throws */
  upload(fileId: string, body: AsyncIterable<Uint8Array>): Promise<void>;
  /** Says what was uploaded. Idempotent. @throws not_found | conflict */
  commit(fileId: string, file: SealedFile): Promise<void>;
  /** The ciphertext as it comes. @throws not_found */
  download(fileId: string, signal: AbortSignal): Promise<{ stream: IncomingMessage; bytes: number }>;
  /** Recipient of the account; undefined until it has a key. */
  accountRecipient(signal?: AbortSignal): Promise<string | undefined>;
  /** The device that shows a code, and the recipient that it made. @throws not_found */
  waitingDevice(userCode: string): Promise<{ deviceName: string; recipient?: string }>;
  /** @param replaces the recipient that it takes the place of; undefined for none @throws conflict */
  setAccountRecipient(recipient: string, replaces?: string): Promise<void>;
}

const TIMEOUT_MS = 15_000;
const UPLOAD_MS = 20 * 60_000;
/** Milliseconds without a byte after which a download is given up. */
const SILENCE_MS = 60_000;

export function createFileClient(options: HttpOptions): FileClient {
  const http = createHttp(options);
  const ok = (answer: HttpAnswer) => expectOk(http, answer);
  const pathOf = (fileId: string) => `${FILES_PATH}/${encodeURIComponent(fileId)}`;

  async function begin(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    try {
      return await http.open({ method: 'GET', path, signal, silenceMs: SILENCE_MS });
    } catch (error) {
      throw toTransportError(error, http.url, signal.aborted);
    }
  }

  return {
    async upload(fileId, stream) {
      const headers = { 'content-type': 'application/octet-stream' };
      ok(await http.send({ method: 'PUT', path: pathOf(fileId), stream, headers, timeoutMs: UPLOAD_MS }));
    },
    async commit(fileId, body) {
      const path = `${pathOf(fileId)}/commit`;
      ok(await http.send({ method: 'POST', path, body, timeoutMs: TIMEOUT_MS }));
    },
    async download(fileId, signal) {
      const path = `${pathOf(fileId)}/content`;
      const stream = await begin(path, signal);
      if (stream.statusCode === 200) {
        return { stream, bytes: Number(stream.headers['content-length'] ?? 0) };
      }
      stream.destroy();
      // Asked once more in the way that reads errors.
      ok(await http.send({ method: 'GET', path, signal, timeoutMs: TIMEOUT_MS }));
      throw new KaiwuError('backend_unreachable', `The backend at ${http.url} sent no file.`);
    },
    async accountRecipient(signal) {
      const answer = ok(
        await http.send({ method: 'GET', path: ACCOUNT_KEY_PATH, signal, timeoutMs: TIMEOUT_MS }),
      );
      return typeof answer.recipient === 'string' ? answer.recipient : undefined;
    },
    async waitingDevice(userCode) {
      const path = `${WAITING_PATH}/${encodeURIComponent(userCode)}`;
      const { deviceName, recipient } = ok(await http.send({ method: 'GET', path, timeoutMs: TIMEOUT_MS }));
      return {
        deviceName: String(deviceName),
        ...(typeof recipient === 'string' && RECIPIENT.test(recipient) ? { recipient } : {}),
      };
    },
    async setAccountRecipient(recipient, replaces) {
      const body = { recipient, ...(replaces === undefined ? {} : { replaces }) };
      ok(await http.send({ method: 'PUT', path: ACCOUNT_KEY_PATH, body, timeoutMs: TIMEOUT_MS }));
    },
  };
}
