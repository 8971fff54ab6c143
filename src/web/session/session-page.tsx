import { createSignal, type JSX, Show } from 'solid-js';
import { actions, must } from '../api/call.ts';
import { createLive } from '../api/live.ts';
import { t } from '../i18n/index.ts';
import { Problem } from '../ui/problem.tsx';
import { A } from '../ui/router.tsx';
import { Composer } from './composer.tsx';
import { SessionContext } from './session-context.ts';
import { SessionHead } from './session-head.tsx';
import { createTranscript } from './transcript-state.ts';
import { TranscriptView } from './transcript-view.tsx';

export default function SessionPage(props: { sessionId: string }): JSX.Element {
  const { sessionId } = props;
  const session = createLive(
    () => must(actions.session.status.get({ sessionId })),
    (news) => news.type === 'session.changed' && news.sessionId === sessionId,
  );
  const transcript = createTranscript(sessionId);
  const [sends, setSends] = createSignal(0);
  return (
    <SessionContext.Provider value={session.data}>
      <Show
        when={session.data()}
        fallback={
          <div class="page">
            <p>
              <A href="/sessions">{t('backToSessions')}</A>
            </p>
            <Problem error={session.error()} />
          </div>
        }
      >
        {(found) => (
          <div class="session-page">
            <SessionHead session={found()} />
            <TranscriptView transcript={transcript} sessionId={sessionId} follow={sends()} />
            <Show
              when={found().archivedAt === undefined}
              fallback={<p class="note plain">{t('archived')}</p>}
            >
              <Composer sessionId={sessionId} transcript={transcript} onSend={() => setSends(sends() + 1)} />
            </Show>
          </div>
        )}
      </Show>
    </SessionContext.Provider>
  );
}
