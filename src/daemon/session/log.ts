import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** When a session's log reaches this many bytes, it becomes the older half and a new one begins. */
const MAX_BYTES = 1024 * 1024;

/** What an agent prints that is not part of its conversation. */
export interface SessionLog {
  write(kind: string, text: string): void;
}

/** A session's id as part of a path. */
export const toFileName = (sessionId: string): string => sessionId.replaceAll(/[^\w-]/g, '_');

/** One file a session, 0600. A disk that is full must not stop the session, so failures to write are swallowed. */
export function createSessionLog(options: { directory: string; sessionId: string; now(): Date }): SessionLog {
  const path = join(options.directory, `${toFileName(options.sessionId)}.log`);
  let bytes: number | undefined;

  function append(text: string): void {
    if (bytes === undefined) {
      mkdirSync(options.directory, { recursive: true, mode: 0o700 });
      bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    }
    if (bytes > MAX_BYTES) {
      renameSync(path, `${path}.1`);
      bytes = 0;
    }
    appendFileSync(path, text, { mode: 0o600 });
    bytes += Buffer.byteLength(text);
  }

  return {
    write(kind, text) {
      try {
        append(`${options.now().toISOString()} ${kind} ${text.replace(/\n$/, '')}\n`);
      } catch {
        bytes = undefined;
      }
    },
  };
}
