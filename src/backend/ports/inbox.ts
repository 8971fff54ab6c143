import { toShortText, toVisibleText } from '../../core/visible-text.ts';
import { toShown } from '../../core/approval-card.ts';
import type { InboxItem, InboxPort } from '../../core/ports/inbox.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { BackendStore, InboxRow } from '../store/store.ts';

/** Everything that waits for a person, from whatever table knows of it. */
export function createInbox(options: {
  store: Pick<BackendStore, 'inbox'>;
  runtime: Pick<Runtime, 'now'>;
}): InboxPort {
  const { store, runtime } = options;
  return {
    async list(filter, page) {
      const now = runtime.now().toISOString();
      const { items, ...rest } = await store.inbox.list({ ...filter, now }, page);
      return { items: items.map(toItem), ...rest };
    },
  };
}

function toItem({ kind, at, session, approval, lineage }: InboxRow): InboxItem {
  if (approval !== undefined) {
    // What holds a secret is never filed, so nothing of it is declared one here.
    const shown = toShown(approval, undefined);
    const asking = lineage.at(-1)?.sessionId;
    return {
      itemId: shown.artifactId,
      kind,
      title: shown.summary,
      at,
      ...(asking === undefined ? {} : { sessionId: asking }),
      lineage,
      approval: shown,
    };
  }
  const { sessionId = '', machineId, agentId, permission, question, reason } = session ?? {};
  return {
    itemId: toItemId(kind, sessionId, permission?.requestId, question?.requestId),
    kind,
    title: toTitle(kind, session),
    at,
    sessionId,
    ...(machineId === undefined ? {} : { machineId }),
    ...(agentId === undefined ? {} : { agentId }),
    lineage,
    ...(kind === 'permission' && permission !== undefined ? { permission } : {}),
    ...(kind === 'question' && question !== undefined ? { question } : {}),
    ...(kind === 'failed' && reason !== undefined ? { reason } : {}),
  };
}

function toItemId(
  kind: InboxItem['kind'],
  sessionId: string,
  permission?: string,
  question?: string,
): string {
  if (kind === 'permission') return permission ?? sessionId;
  if (kind === 'question') return question ?? sessionId;
  return sessionId;
}

function toTitle(kind: InboxItem['kind'], session: InboxRow['session']): string {
  const name = session?.title ?? session?.agentId ?? '';
  switch (kind) {
    case 'permission':
      return oneLine(session?.permission?.title ?? name);
    case 'question':
      return oneLine(session?.question?.message ?? name);
    case 'failed':
      return oneLine(`${name} failed: ${session?.reason?.message ?? 'no reason was given'}`);
    default:
      return oneLine(`${name} has said nothing since ${session?.stalledSince ?? ''}`);
  }
}

/** An agent's own words, shown to a person: the first line, which says what it is about, and a sign that there are more. */
function oneLine(text: string): string {
  const [first = '', ...more] = text.trim().split(/\s*[\r\n]+/);
  const shown = toShortText(toVisibleText(first, { singleLine: true }), 300);
  return more.length === 0 ? shown : `${shown} …`;
}
