import { createMemo, createSignal, type JSX, Show } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { createAsked } from '../api/asked.ts';
import { actions, must, type OutputOf } from '../api/call.ts';
import { toWire } from '../api/live.ts';
import { createPaged } from '../api/pages.ts';
import { t } from '../i18n/index.ts';
import { AskTwice } from '../ui/ask-twice.tsx';
import { moveAmong, useKeys } from '../ui/keys.ts';
import { MoreOf } from '../ui/load-more.tsx';
import { Problem } from '../ui/problem.tsx';
import { A } from '../ui/router.tsx';
import { Rows } from '../ui/rows.tsx';
import { line } from '../ui/text.tsx';
import { ago, fullTime } from '../ui/time.ts';
import { FileCard, sizeOf } from './file-card.tsx';

type Answer = OutputOf<typeof actions.file.list>;
type FileRow = Answer['files'][number];

const PAGE = 50;

/** Everything that sessions have sent to the person, by session, the newest first. */
export default function FilesPage(): JSX.Element {
  const [usage, setUsage] = createSignal<Answer['usage']>();
  const list = createPaged<FileRow>(
    async (place) => {
      const answer = await must(actions.file.list({ limit: PAGE, ...place }));
      setUsage(answer.usage);
      return { items: answer.files, nextCursor: answer.nextCursor };
    },
    ({ type }) => type === 'file.changed',
  );
  const groups = createMemo(() => bySession(list.data()?.rows ?? []));

  const move = (by: number) => moveAmong('.files article', by);
  useKeys({ j: () => move(1), k: () => move(-1) });

  return (
    <div class="page narrow files">
      <header class="page-head">
        <h1>{t('files')}</h1>
        <Show when={usage()}>
          {(room) => (
            <span class="muted">
              {t('roomUsed', { used: sizeOf(room().usedBytes), max: sizeOf(room().maxBytes) })}
            </span>
          )}
        </Show>
      </header>
      <Problem error={list.error()} />
      <Show when={list.data() !== undefined} fallback={<p class="loading">{t('loading')}</p>}>
        <Show
          when={groups().length > 0}
          fallback={
            <div class="nothing">
              <p class="big">{t('noFiles')}</p>
              <p>{t('noFilesHow')}</p>
            </div>
          }
        >
          <Rows each={groups()} by={({ sessionId }) => sessionId}>
            {(group) => (
              <section>
                <SessionHead sessionId={group().sessionId} />
                <Rows each={group().files} by={({ fileId }) => fileId}>
                  {(file) => <FileArticle file={file()} onRemoved={() => void list.refresh()} />}
                </Rows>
              </section>
            )}
          </Rows>
        </Show>
        <MoreOf list={list} />
      </Show>
    </div>
  );
}

/** Sessions in the order of their newest file. */
function bySession(files: FileRow[]): { sessionId: string; files: FileRow[] }[] {
  const groups = new Map<string, FileRow[]>();
  for (const file of files) groups.set(file.sessionId, [...(groups.get(file.sessionId) ?? []), file]);
  return [...groups].map(([sessionId, own]) => ({ sessionId, files: own }));
}

function SessionHead(props: { sessionId: string }): JSX.Element {
  const session = createAsked(
    () => props.sessionId,
    async (sessionId) => {
      const outcome = await actions.session.status.get({ sessionId });
      return outcome.status === 'ok' ? outcome.output : undefined;
    },
  );
  return (
    <h2 class="group-head">
      <A href={`/sessions/${props.sessionId}`} dir="auto">
        {line(session.data()?.title ?? props.sessionId.slice(0, 12))}
      </A>
      <Show when={session.data()?.agentId}>{(agentId) => <span class="muted">{line(agentId())}</span>}</Show>
    </h2>
  );
}

function FileArticle(props: { file: FileRow; onRemoved: () => void }): JSX.Element {
  const [error, setError] = createSignal<WireError>();
  async function remove(): Promise<void> {
    try {
      await must(actions.file.remove({ fileId: props.file.fileId }));
      props.onRemoved();
    } catch (failure) {
      setError(toWire(failure));
    }
  }
  return (
    <article class="card" tabindex="-1" aria-label={`${t('file')} ${props.file.fileId}`}>
      <FileCard display={props.file} />
      <footer class="buttons">
        <time class="muted" datetime={props.file.createdAt} title={fullTime(props.file.createdAt)}>
          {ago(props.file.createdAt)}
        </time>
        <AskTwice ask={t('removeFile')} sure={t('removeFileNow')} onSure={() => void remove()} />
      </footer>
      <Problem error={error()} />
    </article>
  );
}
