import { createSignal, type JSX, Show } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { PASSKEY_NAME_MAX } from '../../core/passkey.ts';
import { actions, must, type Outcome } from '../api/call.ts';
import { createLive, toWire } from '../api/live.ts';
import { addPasskey, moveToLocalhost } from '../api/passkeys.ts';
import { browserName } from '../browser/host.ts';
import { passkeySupport } from '../browser/passkey.ts';
import { t } from '../i18n/index.ts';
import { NoPasskeys, PasskeyProblem } from '../sign-in/passkey-words.tsx';
import { announce } from '../ui/announce.ts';
import { Problem } from '../ui/problem.tsx';
import { Rows } from '../ui/rows.tsx';
import { line } from '../ui/text.tsx';
import { ago, fullTime } from '../ui/time.ts';
import { lastUse, Revoke } from './revoke.tsx';

/** Passkeys of the account, and adding one of this browser. */
export function Passkeys(props: { onRevoked: () => void }): JSX.Element {
  const [error, setError] = createSignal<WireError>();
  const passkeys = createLive(
    async () =>
      (await must(actions.passkey.list({}))).passkeys.filter(({ revokedAt }) => revokedAt === undefined),
    () => false,
  );

  async function run(call: Promise<Outcome<unknown>>, said: string): Promise<boolean> {
    const outcome = await call;
    setError(outcome.status === 'error' ? outcome.error : undefined);
    if (outcome.status === 'ok') announce(said);
    await passkeys.refresh();
    return outcome.status === 'ok';
  }

  async function revoke(passkeyId: string): Promise<boolean> {
    const done = await run(actions.passkey.revoke({ passkeyId }), t('revoked'));
    props.onRevoked();
    return done;
  }

  return (
    <section aria-label={t('passkeys')}>
      <h2 class="section">{t('passkeys')}</h2>
      <p class="muted">{t('passkeysLead')}</p>
      <Problem error={error() ?? passkeys.error()} />
      <Show when={(passkeys.data() ?? []).length > 0}>
        <ul class="plain-list">
          <Rows each={passkeys.data() ?? []} by={({ passkeyId }) => passkeyId}>
            {(passkey) => (
              <li>
                <Name
                  name={passkey().name}
                  onRename={(name) =>
                    run(actions.passkey.rename({ passkeyId: passkey().passkeyId, name }), t('saved'))
                  }
                />
                <span class="kind">{line(passkey().site)}</span>
                <span class="muted">
                  <span title={fullTime(passkey().createdAt)}>
                    {t('passkeyMade', { when: ago(passkey().createdAt) })}
                  </span>
                  {' · '}
                  {lastUse(passkey().lastUsedAt)}
                  <Show when={!passkey().opensFiles}> · {t('passkeyNoFiles')}</Show>
                </span>
                <Revoke name={passkey().name} onRevoke={() => revoke(passkey().passkeyId)} />
              </li>
            )}
          </Rows>
        </ul>
      </Show>
      <Show when={passkeySupport() === 'ok'} fallback={<Elsewhere onError={setError} />}>
        <AddPasskey onDone={() => void passkeys.refresh()} />
      </Show>
    </section>
  );
}

function AddPasskey(props: { onDone: () => void }): JSX.Element {
  const [name, setName] = createSignal(browserName());
  const [busy, setBusy] = createSignal(false);
  const [reason, setReason] = createSignal<string>();

  async function add(): Promise<void> {
    setBusy(true);
    setReason(undefined);
    const refused = await addPasskey(name().trim());
    setBusy(false);
    setReason(refused);
    if (refused !== undefined) return;
    announce(t('passkeyAdded', { name: line(name().trim()) }));
    setName(browserName());
    props.onDone();
  }

  return (
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <label>
        <span>{t('passkeyName')}</span>
        <input
          required
          pattern=".*\S.*"
          maxLength={PASSKEY_NAME_MAX}
          autocomplete="off"
          value={name()}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <p class="buttons">
        <button type="submit" class="primary" disabled={busy()}>
          {t('addPasskey')}
        </button>
      </p>
      <PasskeyProblem reason={reason()} />
    </form>
  );
}

/** The way to the same page where passkeys work, signed in there too. */
function Elsewhere(props: { onError: (error: WireError) => void }): JSX.Element {
  const [busy, setBusy] = createSignal(false);
  const move = (target: string) => {
    setBusy(true);
    moveToLocalhost(target).catch((error: unknown) => {
      setBusy(false);
      props.onError(toWire(error));
    });
  };
  return (
    <div class="inline-form">
      <NoPasskeys
        go={(target) => (
          <button type="button" disabled={busy()} onClick={() => move(target)}>
            {t('goToLocalhost')}
          </button>
        )}
      />
    </div>
  );
}

function Name(props: { name: string; onRename: (name: string) => Promise<boolean> }): JSX.Element {
  const [draft, setDraft] = createSignal<string>();
  const save = async (name: string) => {
    if (await props.onRename(name.trim())) setDraft(undefined);
  };
  return (
    <Show
      when={draft() !== undefined}
      fallback={
        <>
          <span class="title">{line(props.name)}</span>
          <button
            type="button"
            class="quiet small"
            aria-label={`${t('rename')}: ${line(props.name)}`}
            onClick={() => setDraft(props.name)}
          >
            {t('rename')}
          </button>
        </>
      }
    >
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void save(draft() ?? '');
        }}
      >
        <input
          ref={(field) => queueMicrotask(() => field.select())}
          aria-label={t('passkeyName')}
          required
          pattern=".*\S.*"
          maxLength={PASSKEY_NAME_MAX}
          value={draft()}
          onInput={(event) => setDraft(event.currentTarget.value)}
        />
        <button type="submit" class="small">
          {t('save')}
        </button>
        <button type="button" class="quiet small" onClick={() => setDraft(undefined)}>
          {t('cancel')}
        </button>
      </form>
    </Show>
  );
}
