import { createSignal, type JSX, onCleanup, Show } from 'solid-js';
import { checkAgain, refusal, signInByCode, type ShownCode, signInState } from '../api/sign-in.ts';
import { t, tOr } from '../i18n/index.ts';
import { PasskeySignIn } from './passkey-sign-in.tsx';

/** What somebody sees who is not signed in: the two ways to change that. */
export function SignInPage(): JSX.Element {
  const [code, setCode] = createSignal<ShownCode>();
  const [waiting, setWaiting] = createSignal(false);
  const [ended, setEnded] = createSignal<string>();
  const control = new AbortController();
  onCleanup(() => control.abort());

  async function askForCode(): Promise<void> {
    setWaiting(true);
    setEnded(undefined);
    const outcome = await signInByCode(setCode, control.signal);
    setWaiting(false);
    setCode(undefined);
    if (outcome !== 'in') setEnded(outcome);
  }

  return (
    <main class="sign-in" id="main">
      <img src="/icon.svg" alt="" width="44" height="44" />
      <h1>{t('signInTitle')}</h1>
      <Show when={signInState() === 'unreachable'}>
        <div class="problem" role="alert">
          <p>{t('backendAway')}</p>
          <button type="button" onClick={() => void checkAgain()}>
            {t('tryAgain')}
          </button>
        </div>
      </Show>
      <Show when={refusal() ?? ended()}>
        {(why) => (
          <p class="problem" role="alert">
            {tOr(`signIn_${why()}`, t('signIn_refused'))}
          </p>
        )}
      </Show>
      <PasskeySignIn />
      <section>
        <h2>{t('signInHere')}</h2>
        <p>{t('signInHereHow')}</p>
        <pre class="command">kaiwu app</pre>
      </section>
      <section>
        <h2>{t('signInElsewhere')}</h2>
        <Show
          when={code()}
          fallback={
            <>
              <p>{t('signInElsewhereHow')}</p>
              <button type="button" class="primary" disabled={waiting()} onClick={() => void askForCode()}>
                {t('showCode')}
              </button>
            </>
          }
        >
          {(shown) => (
            <div role="status">
              <p>{t('enterCode')}</p>
              <p class="user-code">{shown().code}</p>
              <p>{t('enterCodeShell')}</p>
              <pre class="command">kaiwu auth approve {shown().code}</pre>
              <Show when={shown().keyCheck}>
                {(check) => <p class="muted">{t('keyCheckHere', { check: check() })}</p>}
              </Show>
              <p class="muted">{t('codeGoodFor', { n: Math.round(shown().expiresInSeconds / 60) })}</p>
            </div>
          )}
        </Show>
      </section>
    </main>
  );
}
