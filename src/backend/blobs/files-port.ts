import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import type { FileFacts } from '../../core/file.ts';
import { EVENT_LIMITS } from '../../core/link.ts';
import type { FilesPort } from '../../core/ports/files.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { parseFrame } from '../link/parse-frame.ts';
import type { AskMachine } from '../ports/ask-machine.ts';
import type { BackendStore } from '../store/store.ts';
import { noSuchFile, type Uploads } from './uploads.ts';

/** A person reads this. */
const factsSchema: z.ZodType<FileFacts> = z.object({
  file: z.string().max(EVENT_LIMITS.path),
  sizeBytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Milliseconds for a machine to read a file, and to encrypt and upload one. */
const LOOK_MS = 60_000;
const SEND_MS = 20 * 60_000;

/** Files over the machine links and the store. `uploads` is undefined where this backend keeps no files. */
export function createFilesPort(options: {
  store: Pick<BackendStore, 'sessions' | 'files'>;
  ask: AskMachine;
  uploads: Uploads | undefined;
  runtime: Pick<Runtime, 'newId'>;
}): FilesPort {
  const { store, ask, uploads } = options;
  return {
    async look({ sessionId, path }, caller) {
      const { machineId } = await store.sessions.get(sessionId);
      const facts = await ask(machineId, 'session.look_at_file', { sessionId, path }, caller, LOOK_MS);
      return parseFrame(factsSchema, facts, 'session.look_at_file');
    },
    async send({ sessionId, ...file }, caller) {
      if (uploads === undefined) throw noFiles();
      const { machineId } = await store.sessions.get(sessionId);
      const recipient = await store.files.recipient();
      if (recipient === undefined) throw noKey();
      const fileId = options.runtime.newId('file');
      const sent = await uploads.during({ fileId, sessionId, machineId }, () =>
        ask(machineId, 'session.send_file', { sessionId, fileId, recipient, ...file }, caller, SEND_MS),
      );
      return { fileId, ...sent };
    },
    list: store.files.list,
    async get(fileId) {
      const file = await store.files.get(fileId);
      if (file !== undefined) return file;
      throw noSuchFile(fileId);
    },
    async remove(fileId) {
      if (uploads === undefined) throw noFiles();
      return uploads.remove(fileId);
    },
    async usage() {
      return (await uploads?.usage()) ?? { usedBytes: 0, maxBytes: 0 };
    },
  };
}

const noFiles = () => new KaiwuError('unsupported', 'This backend keeps no files.');

const noKey = () =>
  new KaiwuError('unsupported', 'The account has no key yet to encrypt files to.', {
    hint: 'The first sign-in makes one: run `kaiwu auth login` again on a device of yours.',
  });
