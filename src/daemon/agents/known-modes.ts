import { PERMISSION_MODES, type PermissionMode } from '../../core/session.ts';
import type { AgentDefinition } from './agents.ts';

/** What agents call their modes; for one of which nothing else is known, the first that it offers is taken. */
export const KNOWN_MODES: Record<PermissionMode, string[]> = {
  default: ['default', 'ask', 'ask-first', 'build', 'code', 'normal', 'workspace-write'],
  plan: ['plan', 'plan-first', 'architect'],
  read_only: ['read-only', 'readonly', 'read_only', 'look-only', 'plan'],
  accept_edits: [
    'acceptEdits',
    'accept-edits',
    'accept_edits',
    'autoEdit',
    'auto-edit',
    'auto_edit',
    'edit-freely',
  ],
  bypass: [
    'bypassPermissions',
    'bypass',
    'bypass-permissions',
    'yolo',
    'full-access',
    'agent-full-access',
    'never-ask',
    'dontAsk',
  ],
};

/**
 * Ours that an agent has, as far as is known. One that was added has what the person named until it has started, and what it
 * offered then; it always has the one that it starts in.
 * @param offered its own modes; undefined until it has started
 */
export function toPermissionModes(
  { modes, source, guessedModes = [] }: Pick<AgentDefinition, 'modes' | 'source' | 'guessedModes'>,
  offered: string[] | undefined,
): PermissionMode[] {
  const all = Object.entries(modes) as [PermissionMode, string[]][];
  const has = ([mode, ids]: [PermissionMode, string[]]): boolean => {
    if (source !== 'added' || mode === 'default') return true;
    return offered === undefined ? !guessedModes.includes(mode) : ids.some((id) => offered.includes(id));
  };
  return all.filter(has).map(([mode]) => mode);
}

/** Most of its own modes that a text names. */
const MAX_NAMED = 20;

/** What is wrong with the names that the person gave its modes, by what it offers; undefined where nothing is. */
export function toModeFault(
  { modes, source, guessedModes = [] }: Pick<AgentDefinition, 'modes' | 'source' | 'guessedModes'>,
  offered: string[] | undefined,
  of: readonly PermissionMode[] = PERMISSION_MODES,
): string | undefined {
  if (source !== 'added' || offered === undefined) return undefined;
  const wrong = of.flatMap((mode) => {
    const [named, ...more] = modes[mode] ?? [];
    const isNamed = named !== undefined && more.length === 0 && !guessedModes.includes(mode);
    return isNamed && !offered.includes(named) ? [`--mode ${mode}=${named}`] : [];
  });
  if (wrong.length === 0) return undefined;
  const verb = wrong.length === 1 ? 'names' : 'name';
  const all = offered.slice(0, MAX_NAMED).join(', ') || 'no modes';
  return `it offers ${all}; ${wrong.join(' and ')} ${verb} none of them`;
}

/**
 * The mode that an added agent starts in stands for the default, where it has a name that we do not know. One that is
 * known to ask for less never does.
 */
export function toInitialMode(definition: AgentDefinition, current: string | undefined): string | undefined {
  const known = Object.values(definition.modes).flat();
  return definition.source === 'added' && current !== undefined && !known.includes(current)
    ? current
    : undefined;
}
