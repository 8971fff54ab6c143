import { createSignal, type JSX, Show } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { actions } from '../api/call.ts';
import { t } from '../i18n/index.ts';
import { Problem } from '../ui/problem.tsx';
import { A } from '../ui/router.tsx';
import { line } from '../ui/text.tsx';
import { ago, fullTime } from '../ui/time.ts';
import type { TreeRow } from './session-tree.ts';
import { StatusMark } from './status-mark.tsx';

/** One session in the list. */
export function SessionLine(props: { row: TreeRow; machine: string }): JSX.Element {
  const [error, setError] = createSignal<WireError>();
  const session = () => props.row.session;
  const isArchived = () => session().archivedAt !== undefined;

  async function toggleArchived(): Promise<void> {
    const { sessionId } = session();
    const outcome = await (isArchived()
      ? actions.session.unarchive({ sessionId })
      : actions.session.archive({ sessionId }));
    setError(outcome.status === 'error' ? outcome.error : undefined);
  }

  return (
    <li
      class="session-line"
      style={{ 'padding-inline-start': `${14 + Math.min(props.row.indent, 6) * 22}px` }}
    >
      <Show when={props.row.indent > 0}>
        <span class="twig" aria-hidden="true">
          └
        </span>
      </Show>
      <StatusMark session={session()} />
      <A class="title" href={`/sessions/${session().sessionId}`} dir="auto">
        {session().title === undefined ? t('untitled') : line(session().title ?? '')}
      </A>
      <span class="facts">
        <span>{line(session().agentId)}</span>
        <span>{line(props.machine)}</span>
        <span class="directory" title={line(session().directory)}>
          <bdi>{line(session().directory)}</bdi>
        </span>
      </span>
      <time datetime={session().updatedAt} title={fullTime(session().updatedAt)}>
        {ago(session().updatedAt)}
      </time>
      <button
        type="button"
        class="quiet small"
        aria-label={`${t(isArchived() ? 'unarchive' : 'archive')}: ${line(session().title ?? session().sessionId)}`}
        onClick={() => void toggleArchived()}
      >
        {t(isArchived() ? 'unarchive' : 'archive')}
      </button>
      <Problem error={error()} />
    </li>
  );
}
