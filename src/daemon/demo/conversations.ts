import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Conversations that outlive the process: one file each, a line of JSON for each message of the person. */
export interface Conversations {
  add(sessionId: string, message: string): Promise<void>;
  /** Undefined for one that is not kept. */
  read(sessionId: string): Promise<string[] | undefined>;
}

const SESSION_ID = /^[\w-]{1,64}$/;

export function createConversations(folder: string): Conversations {
  const pathOf = (sessionId: string) => join(folder, `${sessionId}.jsonl`);

  return {
    async add(sessionId, message) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await appendFile(pathOf(sessionId), `${JSON.stringify(message)}\n`, { mode: 0o600 });
    },
    async read(sessionId) {
      if (!SESSION_ID.test(sessionId)) return undefined;
      const text = await readFile(pathOf(sessionId), 'utf8').catch(() => undefined);
      // The process may have been killed within the last line.
      return text
        ?.split('\n')
        .slice(0, -1)
        .map((line) => String(JSON.parse(line)));
    },
  };
}
