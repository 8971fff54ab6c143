import { createHash } from 'node:crypto';
import { basename, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../../core/errors.ts';
import type { FileDisplay, FileFacts, SealedFile, SentFile } from '../../core/file.ts';
import { type DaemonMethods, READ_TEXT_MAX_BYTES } from '../../core/link.ts';
import type { Logger } from '../../core/ports/host.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import type { Journal } from '../journal/journal.ts';
import { toMimeType, toSafeName } from './names.ts';
import { type OpenFile, openInWorkspace } from './open-file.ts';
import { notAFile } from './workspace-path.ts';
import { encryptStream, sealDescription } from './seal.ts';

/** What sending files takes from outside. */
export interface FileOptions {
  /** Largest file, bytes. */
  maxBytes: number;
  /** Recipient that this machine knows the account by; undefined where it was never told one. */
  ownRecipient(): Promise<string | undefined>;
  /** Brings ciphertext to the backend, from its start. @throws backend_unreachable when the connection breaks */
  upload(fileId: string, body: AsyncIterable<Uint8Array>): Promise<void>;
  /** Says what was uploaded; from then on the file is there. */
  commit(fileId: string, file: SealedFile): Promise<void>;
}

type Params = DaemonMethods['session.send_file']['params'];

/** Pauses before the second and the third try, milliseconds. */
const RETRY_MS = [500, 2000];

/** Sends files of sessions to the person, encrypted. */
export interface Files {
  /** @throws what `send` refuses the file with */
  look(file: { sessionId: string; path: string }): Promise<FileFacts>;
  /** A text file, whole. @throws what `send` refuses the file with; not_a_file where it is no text */
  readText(file: { sessionId: string; path: string }): Promise<{ path: string; text: string }>;
  /** @throws see the refusals of `openInWorkspace`; conflict | approval_stale | backend_unreachable */
  send(params: Params): Promise<SentFile>;
}

export function createFiles(
  options: { journal: Pick<Journal, 'session' | 'running' | 'append'>; log: Logger } & {
    files: FileOptions | undefined;
  },
): Files {
  const { journal, log } = options;

  function withOptions(): FileOptions {
    if (options.files !== undefined) return options.files;
    throw new KaiwuError('unsupported', 'This daemon sends no files.');
  }

  function directoryOf(sessionId: string): string {
    const session = journal.session(sessionId);
    if (session !== undefined) return session.worktree?.directory ?? session.directory;
    throw new KaiwuError(
      'session_directory_unavailable',
      `This machine’s daemon does not know where session ${sessionId} works.`,
      { hint: 'The daemon lost its data: start a new session.' },
    );
  }

  async function withFile<T>(
    { sessionId, path }: { sessionId: string; path: string },
    work: (file: OpenFile) => Promise<T>,
    maxBytes = withOptions().maxBytes,
  ): Promise<T> {
    if (typeof path !== 'string' || path.trim() === '') throw noPath();
    const file = await openInWorkspace(directoryOf(sessionId), path, maxBytes);
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  }

  /** Uploads until it is whole; each try reads the file anew, and is told of by itself. */
  async function upload(fileId: string, file: OpenFile, recipient: string) {
    for (let i = 0; ; i++) {
      const told = tell(file.read());
      try {
        await withOptions().upload(fileId, await encryptStream(told.chunks, recipient));
        return told.facts();
      } catch (error) {
        const failure = told.failure() ?? error;
        const wait = RETRY_MS[i];
        const isLost = failure instanceof KaiwuError && failure.code === 'backend_unreachable';
        if (!isLost || wait === undefined) throw failure;
        log.warn({ fileId, tries: i + 1 }, 'an upload broke off; it begins again');
        await sleep(wait);
      }
    }
  }

  function display({ sessionId, fileId }: Params, { sizeBytes, sealed }: SealedFile): void {
    const file: FileDisplay = { kind: 'file', fileId, sizeBytes, sealed };
    journal.append(sessionId, [
      {
        type: 'tool_call',
        // Outside of a turn it belongs to no message of anybody.
        messageId: journal.running(sessionId)?.messageId ?? fileId,
        toolCallId: fileId,
        title: 'File for the user',
        kind: 'other',
        status: 'completed',
        content: { display: file },
      },
    ]);
  }

  return {
    look: (request) =>
      withFile(request, async (file) => {
        const told = tell(file.read());
        for await (const _ of told.chunks);
        return { file: toShown(file), ...told.facts() };
      }),
    readText: (request) =>
      withFile(
        request,
        async (file) => {
          const chunks: Buffer[] = [];
          for await (const chunk of file.read()) chunks.push(chunk);
          return { path: toShown(file), text: decode(Buffer.concat(chunks), request.path) };
        },
        READ_TEXT_MAX_BYTES,
      ),
    send: (params) =>
      withFile(params, async (file) => {
        const { fileId, recipient, message, reviewed } = params;
        await requireOwn(recipient, withOptions());
        const path = toShown(file);
        if (reviewed !== undefined && reviewed.file !== path) throw changed(path);
        const { sizeBytes, sha256 } = await upload(fileId, file, recipient);
        if (reviewed !== undefined && reviewed.sha256 !== sha256) throw changed(path);
        const name = basename(file.path);
        const sent: SentFile = {
          path,
          fileName: toSafeName(name),
          sizeBytes,
          mimeType: toMimeType(name),
          ...(message === undefined ? {} : { message }),
        };
        const sealed = await sealDescription({ fileId, sha256, ...sent }, recipient);
        await withOptions().commit(fileId, { sizeBytes, sealed });
        display(params, { sizeBytes, sealed });
        return sent;
      }),
  };
}

/** @throws not_a_file */
function decode(bytes: Uint8Array, given: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Told below.
  }
  throw notAFile(given, 'no text in UTF-8');
}

/** Where a file lies in its workspace, safe to read. */
const toShown = ({ root, path }: OpenFile): string =>
  toVisibleText(relative(root, path).replaceAll('\\', '/'), { singleLine: true });

/** Counts and hashes what passes, and keeps the error that it ended with: libraries wrap those of their sources. */
function tell(source: AsyncGenerator<Buffer>) {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let failure: unknown;
  async function* pass(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of source) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  return {
    chunks: pass(),
    failure: () => failure,
    facts: () => ({ sizeBytes, sha256: hash.digest('hex') }),
  };
}

/** A backend that names a recipient of its own could read what is sent. */
async function requireOwn(recipient: string, { ownRecipient }: FileOptions): Promise<void> {
  const own = await ownRecipient();
  if (own === undefined || own === recipient) return;
  throw new KaiwuError('conflict', 'The backend names another key for the account than this machine knows.', {
    hint: 'If the key was replaced on purpose, sign this machine in again: `kaiwu auth login`. If not, do not trust this backend.',
  });
}

const noPath = () =>
  new KaiwuError('invalid_input', 'path must name a file.', {
    details: { issues: [{ path: 'path', message: 'must name a file' }] },
  });

const changed = (path: string) =>
  new KaiwuError('approval_stale', `${path} has changed since it was approved; it was not sent.`, {
    hint: 'Call the action again to file a new request.',
  });
