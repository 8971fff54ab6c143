import { type JSX, Show } from 'solid-js';
import { atLocalhost, passkeySupport } from '../browser/passkey.ts';
import { t, tOr } from '../i18n/index.ts';

/** Why a passkey was not added or did not sign in. */
export function PasskeyProblem(props: { reason: string | undefined }): JSX.Element {
  return (
    <Show when={props.reason}>
      {(reason) => (
        <p class="problem" role="alert">
          {tOr(`passkey_${reason()}`, tOr(`code_${reason()}`, t('passkey_failed')))}
        </p>
      )}
    </Show>
  );
}

/** What stands in place of the button where this page cannot use passkeys; at an address of this machine, the way to where it can. */
export function NoPasskeys(props: {
  /** How to go there. Default: a link. */
  go?: (target: string) => JSX.Element;
}): JSX.Element {
  const target = atLocalhost(location.pathname);
  return (
    <>
      <p class="muted">
        {target === undefined ? tOr(`passkeys_${passkeySupport()}`, '') : t('passkeys_here')}
      </p>
      <Show when={target}>
        {(url) => (
          <p>
            {props.go?.(url()) ?? (
              <a href={url()} class="command">
                {url()}
              </a>
            )}
          </p>
        )}
      </Show>
    </>
  );
}
