import { createSignal, type JSX, onMount, Show } from 'solid-js';
import type { WireError } from '../../../core/errors.ts';
import { actions, must } from '../../api/call.ts';
import { toWire } from '../../api/live.ts';
import { t } from '../../i18n/index.ts';
import { Problem } from '../../ui/problem.tsx';
import { A } from '../../ui/router.tsx';
import { line, Stranger } from '../../ui/text.tsx';
import { takeAnswer } from './came-back.ts';
import type { Server } from './servers.ts';

/** Where the browser comes back to after signing in to a server: hands over what it came with, and says what came of it. */
export default function SignedInPage(): JSX.Element {
  const [server, setServer] = createSignal<Server>();
  const [error, setError] = createSignal<WireError>();
  const answer = takeAnswer();
  onMount(() => {
    if (answer === undefined) return;
    must(actions.mcp.server.login.complete(answer)).then(setServer, (failure: unknown) =>
      setError(toWire(failure)),
    );
  });
  return (
    <div class="page narrow">
      <header class="page-head">
        <h1>{t('mcpSignIn')}</h1>
      </header>
      <Show when={answer !== undefined} fallback={<p>{t('mcpNothingCame')}</p>}>
        <Show when={server() === undefined && error() === undefined}>
          <p role="status">{t('mcpCompleting')}</p>
        </Show>
      </Show>
      <Problem error={error()} />
      <Show when={server()}>
        {(found) => (
          <div class="outcome" classList={{ ok: found().status === 'ready' }} role="status">
            <p>
              <strong>{t('mcpIsSignedIn', { name: line(found().name) })}</strong>{' '}
              {t(`mcp_status_${found().status}`)}
            </p>
            <Show when={found().reason}>{(reason) => <Stranger text={reason()} />}</Show>
          </div>
        )}
      </Show>
      <p class="buttons section">
        <A class="button" href="/settings/mcp-servers">
          {t('mcpBack')}
        </A>
      </p>
    </div>
  );
}
