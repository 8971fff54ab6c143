import { toVisibleText } from '../../core/visible-text.ts';

/** Bytes of a name that every file system takes, with room for a suffix. */
const MAX_NAME_BYTES = 200;

/** Names that Windows gives to devices, whatever follows the first dot. */
const DEVICE = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9¹²³])$/i;

/** A name by which Windows opens a device instead of a file. */
export const isReserved = (name: string): boolean =>
  DEVICE.test((name.split('.')[0] ?? '').trimEnd()) || /^[a-z]:/i.test(name) || name.startsWith('\\\\');

/** Same name but for the kind of its spaces and the form of its letters: what a model writes of what a screen shows. */
export const sameName = (a: string, b: string): boolean => fold(a) === fold(b);

const fold = (name: string): string => name.normalize('NFC').replaceAll(/[\p{Zs}]/gu, ' ');

/** A name that every system takes and that says nothing false of its end: no invisible, bidi or reserved characters. */
export function toSafeName(name: string): string {
  const visible = toVisibleText(name.normalize('NFC'), { singleLine: true });
  const plain = visible
    .replaceAll(/[\p{Zs}]/gu, ' ')
    .replaceAll(/[<>:"/\\|?*]/g, '_')
    .replace(/[. ]+$/, (end) => '_'.repeat(end.length))
    .replace(/^ +/, (start) => '_'.repeat(start.length));
  const free = isReserved(plain) ? `_${plain}` : plain;
  return cut(free === '' ? 'file' : free);
}

/** Keeps the end, by which people and programs know the type. */
function cut(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const end = /\.[^.]{1,20}$/.exec(name)?.[0] ?? '';
  const room = MAX_NAME_BYTES - Buffer.byteLength(end);
  let kept = '';
  for (const character of name.slice(0, name.length - end.length)) {
    if (Buffer.byteLength(kept + character) > room) break;
    kept += character;
  }
  return kept + end;
}

const TYPES: Record<string, string> = {
  aac: 'audio/aac',
  avif: 'image/avif',
  bmp: 'image/bmp',
  css: 'text/css',
  csv: 'text/csv',
  diff: 'text/x-diff',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  flac: 'audio/flac',
  gif: 'image/gif',
  gz: 'application/gzip',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  log: 'text/plain',
  m4a: 'audio/mp4',
  markdown: 'text/markdown',
  md: 'text/markdown',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  patch: 'text/x-diff',
  pdf: 'application/pdf',
  png: 'image/png',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  svg: 'image/svg+xml',
  tar: 'application/x-tar',
  txt: 'text/plain',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
};

/** Type by the end of a name; a claim, never a licence to run or render. */
export function toMimeType(name: string): string {
  const end = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(TYPES, end) ? TYPES[end] : undefined) ?? 'application/octet-stream';
}
