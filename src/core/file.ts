/** Files that go to the person behind the account: encrypted on the session's machine, kept as ciphertext. */

/** Largest file where nothing else is configured, bytes. */
export const DEFAULT_FILE_MAX_BYTES = 100 * 1024 * 1024;

/** Most ciphertext of an account where nothing else is configured, bytes. */
export const DEFAULT_FILES_TOTAL_BYTES = 10 * 1024 * 1024 * 1024;

/** Where a file lies that a daemon uploads, and where the account's recipient and its waiting devices are. */
export const FILES_PATH = '/v1/files';
export const ACCOUNT_KEY_PATH = '/v1/account/key';
export const WAITING_PATH = '/v1/account/waiting';

/** The tool that agents send a file with, as their own tool calls name it. */
export const SEND_FILE_TOOL = 'send_file_to_user';

/** Most characters of the sealed description of a file. */
export const SEALED_MAX = 64 * 1024;

/** Most characters of the message that goes with a file. */
export const FILE_MESSAGE_MAX = 4000;

/** What a person reads of a file before it is sent, and what the approval is bound to. */
export type FileFacts = {
  /** Where the path leads, relative to the workspace. */
  file: string;
  sizeBytes: number;
  /** Hex. */
  sha256: string;
};

/** What the machine tells of a file that it has sent. */
export interface SentFile {
  /** Where it lies, relative to the workspace; what is invisible in it is escaped. */
  path: string;
  /** A name that every system takes. */
  fileName: string;
  sizeBytes: number;
  mimeType: string;
  message?: string;
}

/** Description of a file as it is sealed for the account; only what can decrypt the file can read it. */
export interface SealedDescription extends SentFile {
  fileId: string;
  /** Of the whole file, hex: the ciphertext belongs to this description. */
  sha256: string;
}

/** A file as the backend knows it. */
export interface StoredFile {
  fileId: string;
  sessionId: string;
  machineId: string;
  /** Of the file itself, and of its ciphertext. */
  sizeBytes: number;
  storedBytes: number;
  /** `SealedDescription`, encrypted with age, in base64. */
  sealed: string;
  /** RFC 3339. */
  createdAt: string;
}

/** Room for the ciphertext of an account's files, bytes; what is on its way counts. */
export interface FilesUsage {
  usedBytes: number;
  maxBytes: number;
}

/** What a machine says of a file that it has uploaded. */
export type SealedFile = Pick<StoredFile, 'sizeBytes' | 'sealed'>;

/** An X25519 recipient of age. */
export const RECIPIENT = /^age1[02-9ac-hj-np-z]{58}$/;

/** Display data of a sent file on its tool call in the transcript. */
export interface FileDisplay {
  kind: 'file';
  fileId: string;
  sizeBytes: number;
  sealed: string;
}

/** Bytes of a ciphertext of age for a file of so many bytes, header included, at most. */
export const toStoredLimit = (fileBytes: number): number =>
  fileBytes + 16 * (Math.ceil(fileBytes / 65_536) + 1) + 16 * 1024;

type Environment = Record<string, string | undefined>;

/** A limit that the environment sets, or the variable whose value is no whole number of bytes. */
export type LimitFound = { maxBytes: number } | { bad: { name: string; value: string } };

/** The largest file. */
export const toFileLimit = (env: Environment): LimitFound =>
  toLimit(env, ['KAIWU_FILE_MAX_BYTES', 'HAPPIER_WEB_DOWNLOAD_MAX_BYTES'], DEFAULT_FILE_MAX_BYTES);

/** All ciphertext of an account. */
export const toFilesTotal = (env: Environment): LimitFound =>
  toLimit(env, ['KAIWU_FILES_TOTAL_BYTES'], DEFAULT_FILES_TOTAL_BYTES);

function toLimit(env: Environment, names: string[], otherwise: number): LimitFound {
  for (const name of names) {
    const value = env[name];
    if (value === undefined || value === '') continue;
    const bytes = /^\d{1,15}$/.test(value.trim()) ? Number(value) : 0;
    return bytes > 0 ? { maxBytes: bytes } : { bad: { name, value } };
  }
  return { maxBytes: otherwise };
}
