import type { BackendStore } from '../store/store.ts';
import type { FileStorage } from '../http/file-routes.ts';
import { createBlobs } from './blobs.ts';
import { createQuota } from './quota.ts';
import { createUploads } from './uploads.ts';

/** Undefined where this backend keeps no files. */
export function openStorage({
  files,
  store,
}: {
  files?: { folder: string; maxBytes: number; totalBytes: number };
  store: BackendStore;
}): FileStorage | undefined {
  if (files === undefined) return undefined;
  const blobs = createBlobs(files.folder);
  const quota = createQuota({ maxBytes: files.totalBytes, storedBytes: store.files.storedBytes });
  const uploads = createUploads({ blobs, files: store.files, maxBytes: files.maxBytes, quota });
  return { blobs, uploads };
}
