/**
 * A client's own name as a label: trimmed, lower case, each run of anything but ASCII letters and digits one hyphen.
 * Empty becomes the surface alone. Never an authority: anyone can claim any name.
 */
export function toClientLabel(surface: string, name: string | undefined): string {
  const slug = (name ?? '')
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return slug === '' || slug === surface ? surface : `${surface}:${slug}`;
}
