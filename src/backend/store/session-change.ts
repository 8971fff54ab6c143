import type { SessionChange } from '../../core/projection.ts';
import { toJson } from './rows.ts';
import { searchTextOf } from './session-rows.ts';

/** What a row was before the change, as far as the change depends on it. */
interface Before {
  title: string | null;
  titleSource: string | null;
  directory: string;
}

/** A change as columns. A field that it does not have is left as it is, `null` clears. */
export function toColumns(change: SessionChange, before: Before, at: string) {
  const { agentTitle, reason, permission, question, configOptions, worktree, usage, ...plain } = change;
  const { status } = change;
  const titled =
    agentTitle === undefined || before.titleSource === 'user'
      ? {}
      : { title: agentTitle, titleSource: 'agent' as const };
  const title = titled.title ?? before.title;
  return {
    ...plain,
    ...titled,
    ...(titled.title === undefined && change.directory === undefined
      ? {}
      : { searchText: searchTextOf(title, change.directory ?? before.directory) }),
    ...(reason === undefined ? {} : { reason: toJson(reason) }),
    ...(permission === undefined
      ? {}
      : { permission: toJson(permission), permissionAt: since(permission, at) }),
    ...(question === undefined ? {} : { question: toJson(question), questionAt: since(question, at) }),
    ...(configOptions === undefined ? {} : { configOptions: toJson(configOptions) }),
    ...(worktree === undefined ? {} : { worktree: toJson(worktree) }),
    ...(usage === undefined ? {} : { usage: toJson(usage) }),
    ...(status === undefined ? {} : { failedAt: status === 'failed' ? at : null }),
  };
}

const since = (asked: { askedAt?: string } | null, at: string): string | null =>
  asked === null ? null : (asked.askedAt ?? at);
