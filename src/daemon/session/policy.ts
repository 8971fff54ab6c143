import type { PermissionMode, PermissionOption } from '../../core/session.ts';

/** What an agent asks to be allowed, as ACP names it. */
export type PermissionVerdict = 'allow' | 'refuse' | 'ask';

/** Kinds that change nothing. Everything else, also what is not known, is a change. */
const READS = new Set(['read', 'search', 'think', 'fetch']);

/**
 * What a mode says of a request. Enforced here because agents' own modes leak: they ask, and run when allowed.
 * @param inside all that it names lies where the session works
 */
export function judge(mode: PermissionMode, kind: string, inside: boolean): PermissionVerdict {
  switch (mode) {
    case 'read_only':
      return READS.has(kind) ? 'ask' : 'refuse';
    case 'accept_edits':
      return kind === 'edit' && inside ? 'allow' : 'ask';
    case 'bypass':
      return 'allow';
    default:
      return 'ask';
  }
}

/**
 * The option that says yes or no for this once, else for always. Chosen by kind: ids and order differ between agents.
 */
export function optionFor(
  verdict: 'allow' | 'refuse',
  options: PermissionOption[],
): PermissionOption | undefined {
  const kinds =
    verdict === 'allow'
      ? (['allow_once', 'allow_always'] as const)
      : (['reject_once', 'reject_always'] as const);
  return kinds
    .map((kind) => options.find((option) => option.kind === kind))
    .find((option) => option !== undefined);
}

export const allows = (option: PermissionOption): boolean => option.kind.startsWith('allow');
