import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_LIMITS } from '../../core/link.ts';
import type { SessionEventBody } from '../../core/session.ts';
import { isObject, type Json } from '../acp/json.ts';

/** Bytes of one attachment, and of all of a session. */
export interface AttachmentLimits {
  one: number;
  session: number;
}

export const ATTACHMENT_LIMITS: AttachmentLimits = { one: 20 * 1024 * 1024, session: 200 * 1024 * 1024 };

/** How deep a tool call's content is searched. */
const MAX_DEPTH = 8;

/** What an event says of an attachment. */
export type Attachment = Omit<Extract<SessionEventBody, { type: 'agent_attachment' }>, 'type' | 'messageId'>;

/** Keeps what an agent sends as bytes in a session's folder, by content. */
export interface AttachmentStore {
  /** A block of ACP content as an attachment; undefined for one that is not. @throws Error saying why it was not kept */
  keep(block: Json): Attachment | undefined;
  /** The same value with a reference in the place of each block of bytes. */
  withReferences(value: unknown): unknown;
}

const EXTENSIONS: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'text/plain': 'txt',
  'text/markdown': 'md',
};

export function createAttachmentStore(options: {
  /** Made when the first attachment comes. */
  directory: string;
  limits: AttachmentLimits;
}): AttachmentStore {
  const { directory, limits } = options;
  let used: number | undefined;

  function write(data: Buffer, mimeType: string | undefined): Attachment {
    const sha256 = createHash('sha256').update(data).digest('hex');
    const path = join(directory, `${sha256}.${EXTENSIONS[mimeType ?? ''] ?? 'bin'}`);
    const kept: Omit<Attachment, 'kind'> = { bytes: data.length, sha256, path };
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return { kind: 'file', ...kept };
    if (data.length > limits.one) throw new Error(`it has ${data.length} bytes, more than ${limits.one}`);
    used ??= sizeOf(directory);
    if (used + data.length > limits.session) {
      throw new Error(`the session’s attachments have ${used} bytes, and may have ${limits.session}`);
    }
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.part`, data, { mode: 0o600 });
    renameSync(`${path}.part`, path);
    used += data.length;
    return { kind: 'file', ...kept };
  }

  function keep(block: Json): Attachment | undefined {
    const { type } = block;
    if (type === 'resource_link') return toLink(block);
    const resource = type === 'resource' && isObject(block.resource) ? block.resource : undefined;
    const bytes = bytesOf(resource ?? block);
    if (bytes === undefined || (resource === undefined && type !== 'image' && type !== 'audio')) {
      return undefined;
    }
    const { mimeType, ...said } = describe(resource ?? block);
    return {
      ...write(bytes, mimeType),
      ...(mimeType === undefined ? {} : { mimeType }),
      ...said,
      kind: resource === undefined ? (type as 'image' | 'audio') : 'file',
    };
  }

  function replace(value: unknown, depth: number): unknown {
    if (depth > MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((entry) => replace(entry, depth + 1));
    if (!isObject(value)) return value;
    if (holdsBytes(value)) {
      const { type } = value;
      try {
        return { type, ...keep(value) };
      } catch (error) {
        return { type, left: `not kept: ${toText(error)}` };
      }
    }
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [name, replace(entry, depth + 1)]),
    );
  }

  return { keep, withReferences: (value) => replace(value, 0) };
}

/** Blocks of a tool's output that are not text; text stays where it is. */
const holdsBytes = ({ type, data, resource }: Json): boolean =>
  ((type === 'image' || type === 'audio') && typeof data === 'string') ||
  (type === 'resource' && isObject(resource) && typeof resource.blob === 'string');

function bytesOf({ data, blob, text }: Json): Buffer | undefined {
  const base64 = typeof data === 'string' ? data : blob;
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64');
  return typeof text === 'string' ? Buffer.from(text) : undefined;
}

const toLink = (block: Json): Attachment => ({
  kind: 'link',
  ...describe(block),
  ...(Number.isSafeInteger(block.size) && (block.size as number) >= 0 ? { bytes: block.size as number } : {}),
});

function describe({ uri, name, mimeType }: Json): Pick<Attachment, 'name' | 'mimeType' | 'uri'> {
  const address = typeof uri === 'string' && uri !== '' ? uri.slice(0, EVENT_LIMITS.path) : undefined;
  const called = typeof name === 'string' && name !== '' ? name : address?.split('/').at(-1);
  return {
    ...(called === undefined || called === '' ? {} : { name: called.slice(0, EVENT_LIMITS.name) }),
    ...(typeof mimeType === 'string' ? { mimeType: mimeType.slice(0, EVENT_LIMITS.word).toLowerCase() } : {}),
    ...(address === undefined ? {} : { uri: address }),
  };
}

function sizeOf(directory: string): number {
  try {
    return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  } catch {
    return 0;
  }
}

export const toText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
