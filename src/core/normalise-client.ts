/**
 * A client's own name as a label: trimmed, lower case, each run of anything but ASCII letters and digits one hyphen.
 * Empty becomes the surface alone. Never an authority: anyone can claim any name.
 */
export function toClientLabel(surface: string, name: string | undefined): string {
  const slug = toSlug(name ?? '');
  return slug === '' ? surface : `${surface}:${slug}`;
}

/** A name in small letters, each run of anything but ASCII letters and digits one hyphen, none at the ends; at most 60 characters. */
export const toSlug = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, '');

/** The same of what a surface sends along, which is such a label already or a bare name. */
export function toClientLabelAgain(surface: string, label: string | undefined): string {
  if (label === surface) return surface;
  const prefix = `${surface}:`;
  return toClientLabel(surface, label?.startsWith(prefix) ? label.slice(prefix.length) : label);
}
