import { createSignal, type JSX, Show } from 'solid-js';
import { signInByPasskey } from '../api/passkeys.ts';
import { passkeySupport } from '../browser/passkey.ts';
import { t } from '../i18n/index.ts';
import { NoPasskeys, PasskeyProblem } from './passkey-words.tsx';

/** The quickest way in for who has been here before. */
export function PasskeySignIn(): JSX.Element {
  const [busy, setBusy] = createSignal(false);
  const [reason, setReason] = createSignal<string>();

  async function signIn(): Promise<void> {
    setBusy(true);
    setReason(undefined);
    setReason(await signInByPasskey());
    setBusy(false);
  }

  return (
    <section>
      <h2>{t('signInPasskey')}</h2>
      <Show when={passkeySupport() === 'ok'} fallback={<NoPasskeys />}>
        <p>{t('signInPasskeyHow')}</p>
        <button type="button" class="primary" disabled={busy()} onClick={() => void signIn()}>
          {t('signInPasskeyNow')}
        </button>
        <PasskeyProblem reason={reason()} />
      </Show>
    </section>
  );
}
