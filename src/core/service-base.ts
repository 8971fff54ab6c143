/** Whether a text is the base of an API: http or https, without credentials, query and fragment. */
export function isServiceBase(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

export const SERVICE_BASE = 'an address with http or https, without credentials, query and fragment';
