import type { Caller } from '../call.ts';
import type { FileFacts, FilesUsage, SentFile, StoredFile } from '../file.ts';
import type { Page, PageRequest } from '../page.ts';

/** Files that sessions send to the person. Source: the machine of the session, and the backend's store of ciphertext. */
export interface FilesPort {
  /**
   * What the file is now, so that an approval can be bound to it.
   * @throws session_directory_unavailable | access_denied | file_not_found | file_read_error | is_directory | not_a_file |
   * file_too_large | machine_offline | daemon_not_running
   */
  look(file: { sessionId: string; path: string }, caller: Caller): Promise<FileFacts>;
  /**
   * Has it encrypted on its machine and stores the ciphertext.
   * @throws as `look`; approval_stale (not what was reviewed) | unsupported (the account has no key) | storage_full
   */
  send(
    file: { sessionId: string; path: string; message?: string; reviewed?: FileFacts },
    caller: Caller,
  ): Promise<SentFile & { fileId: string }>;
  /** Newest first. */
  list(filter: { sessionId?: string }, page: PageRequest): Promise<Page<StoredFile>>;
  /** @throws not_found */
  get(fileId: string): Promise<StoredFile>;
  /** Removes ciphertext and record for good. @returns what was removed @throws not_found */
  remove(fileId: string): Promise<StoredFile>;
  usage(): Promise<FilesUsage>;
}
