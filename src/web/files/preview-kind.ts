import type { SealedDescription } from '../../core/file.ts';

export type PreviewKind = 'picture' | 'audio' | 'text' | 'pdf';

/** What a browser shows without running anything in it, by type, and the largest of each, bytes. */
const KINDS: { kind: PreviewKind; types: RegExp; maxBytes: number }[] = [
  { kind: 'picture', types: /^image\/(png|jpeg|gif|webp|avif|bmp)$/, maxBytes: 64 * 1024 * 1024 },
  { kind: 'audio', types: /^audio\//, maxBytes: 256 * 1024 * 1024 },
  { kind: 'text', types: /^(text\/|application\/(json|xml|yaml|toml|javascript)$)/, maxBytes: 512 * 1024 },
  { kind: 'pdf', types: /^application\/pdf$/, maxBytes: 32 * 1024 * 1024 },
];

/** How a file can be shown, or that it would be too large for that. */
export function previewOf({
  mimeType,
  sizeBytes,
}: Pick<SealedDescription, 'mimeType' | 'sizeBytes'>): PreviewKind | 'too_large' | undefined {
  const found = KINDS.find(({ types }) => types.test(mimeType));
  if (found === undefined) return undefined;
  return sizeBytes <= found.maxBytes ? found.kind : 'too_large';
}
