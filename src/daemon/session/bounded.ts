/** Most characters of one event's free part. What is larger loses its middle, not its place in the transcript. */
const MAX_CHARS = 256 * 1024;
const MAX_STRING = 16 * 1024;

/** The value, or one like it that is small enough to store and to send. */
export function toBounded(value: unknown): unknown {
  const size = JSON.stringify(value)?.length ?? 0;
  if (size <= MAX_CHARS) return value;
  const json = JSON.stringify(value, (_key, part) => (typeof part === 'string' ? clip(part) : part));
  return json.length <= MAX_CHARS ? JSON.parse(json) : { cut: true, characters: size, start: clip(json) };
}

/** Start and end of a text that is longer than `max` characters. */
export function clip(text: string, max = MAX_STRING): string {
  if (text.length <= max) return text;
  const half = max / 2;
  return `${text.slice(0, half)}\n[${text.length - max} characters left out]\n${text.slice(-half)}`;
}
