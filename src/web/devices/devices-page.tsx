import { createSignal, type JSX, Show } from 'solid-js';
import { catalogEntry } from '../api/catalog.ts';
import { actions, idOf, must, type Outcome } from '../api/call.ts';
import { createLive } from '../api/live.ts';
import type { WireError } from '../../core/errors.ts';
import { t, tOr } from '../i18n/index.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { announce } from '../ui/announce.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/problem.tsx';
import { Rows } from '../ui/rows.tsx';
import { line } from '../ui/text.tsx';
import { ago, fullTime } from '../ui/time.ts';
import { ApproveDevice } from './approve-device.tsx';
import { Passkeys } from './passkeys.tsx';
import { lastUse, Revoke } from './revoke.tsx';

/** What is signed in, and the tokens that were made for programs. */
export default function DevicesPage(): JSX.Element {
  const [error, setError] = createSignal<WireError>();
  const [making, setMaking] = createSignal(false);
  const [secret, setSecret] = createSignal<string>();
  const devices = createLive(
    async () =>
      (await must(actions.device.list({}))).devices.filter(({ revokedAt }) => revokedAt === undefined),
    () => false,
  );
  const tokens = createLive(
    async () =>
      (await must(actions.token.list({}))).tokens.filter(({ revokedAt }) => revokedAt === undefined),
    () => false,
  );

  async function run<O>(call: Promise<Outcome<O>>, done: (output: O) => string): Promise<boolean> {
    const outcome = await call;
    setError(outcome.status === 'error' ? outcome.error : undefined);
    if (outcome.status === 'ok') announce(done(outcome.output));
    await Promise.all([devices.refresh(), tokens.refresh()]);
    return outcome.status === 'ok';
  }

  return (
    <div class="page narrow">
      <header class="page-head">
        <h1>{t('devices')}</h1>
      </header>
      <Problem error={error() ?? devices.error() ?? tokens.error()} />
      <ApproveDevice onDone={() => void devices.refresh()} />
      <h2 class="section">{t('signedIn')}</h2>
      <ul class="plain-list">
        <Rows each={devices.data() ?? []} by={({ deviceId }) => deviceId}>
          {(device) => (
            <li>
              <span class="title">{line(device().name)}</span>
              <Show when={device().current}>
                <span class="kind">{t('thisBrowser')}</span>
              </Show>
              <Show when={device().passkeyId}>
                <span class="kind">{t('byPasskey')}</span>
              </Show>
              <span class="muted" title={fullTime(device().createdAt)}>
                {lastUse(device().lastUsedAt)}
              </span>
              <Revoke
                name={device().name}
                onRevoke={() =>
                  run(actions.device.revoke({ deviceId: device().deviceId }), () => t('revoked'))
                }
              />
            </li>
          )}
        </Rows>
      </ul>
      <Passkeys onRevoked={() => void devices.refresh()} />
      <header class="page-head section">
        <h2>{t('tokensTitle')}</h2>
        <button type="button" onClick={() => setMaking(true)}>
          {t('newToken')}
        </button>
      </header>
      <Show when={(tokens.data() ?? []).length > 0} fallback={<p class="muted">{t('noTokens')}</p>}>
        <ul class="plain-list">
          <Rows each={tokens.data() ?? []} by={({ tokenId }) => tokenId}>
            {(token) => (
              <li>
                <span class="title">{line(token().name)}</span>
                <span class="kind">{tOr(`token_${token().kind}`, token().kind)}</span>
                <span class="muted">
                  {(token().scope.surfaces ?? []).join(', ')}{' '}
                  {(token().scope.actions ?? []).map(line).join(', ')}
                  <Show when={token().expiresAt}>{(at) => <> · {t('expires', { when: ago(at()) })}</>}</Show>
                </span>
                <Revoke
                  name={token().name}
                  onRevoke={() => run(actions.token.revoke({ tokenId: token().tokenId }), () => t('revoked'))}
                />
              </li>
            )}
          </Rows>
        </ul>
      </Show>
      <Show when={making() && catalogEntry(idOf(actions.token.create))} keyed>
        {(action) => (
          <Dialog title={t('newToken')} onClose={() => (setMaking(false), setSecret(undefined))}>
            <Show
              when={secret()}
              fallback={
                <ActionForm
                  action={action}
                  first={['name', 'kind', 'expiresInDays']}
                  submit={t('makeToken')}
                  onDone={({ token }) => {
                    setSecret(String(token));
                    void tokens.refresh();
                  }}
                />
              }
            >
              {(shown) => (
                <div role="status">
                  <p>{t('tokenOnce')}</p>
                  <pre class="command">{shown()}</pre>
                </div>
              )}
            </Show>
          </Dialog>
        )}
      </Show>
    </div>
  );
}
