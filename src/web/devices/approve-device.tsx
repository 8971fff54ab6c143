import { createSignal, type JSX, Show } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { WAITING_PATH } from '../../core/file.ts';
import { actions } from '../api/call.ts';
import { fileKey, sealText, toKeyCheck } from '../browser/file-key.ts';
import { ask } from '../browser/http.ts';
import { t } from '../i18n/index.ts';
import { announce } from '../ui/announce.ts';
import { Problem } from '../ui/problem.tsx';
import { line } from '../ui/text.tsx';

interface Waiting {
  deviceName: string;
  recipient: string;
  check: string;
}

/** Signs a device in by the code that it shows, and hands it the key of the files where this browser has it. */
export function ApproveDevice(props: { onDone: () => void }): JSX.Element {
  const [code, setCode] = createSignal('');
  const [waiting, setWaiting] = createSignal<Waiting>();
  const [error, setError] = createSignal<WireError>();

  /** The device that waits, where there is a key to hand over and it can take one. */
  async function find(userCode: string): Promise<Waiting | undefined> {
    if (fileKey.get() === undefined) return undefined;
    const answer = await ask('GET', `${WAITING_PATH}/${encodeURIComponent(userCode)}`);
    const { deviceName = '', recipient } = (answer?.body ?? {}) as Partial<Waiting>;
    if (answer?.status !== 200 || typeof recipient !== 'string') return undefined;
    return { deviceName, recipient, check: await toKeyCheck(recipient) };
  }

  async function approve(sealedKey?: string): Promise<void> {
    const userCode = code().trim();
    const outcome = await actions.device.approve({
      userCode,
      ...(sealedKey === undefined ? {} : { sealedKey }),
    });
    setWaiting(undefined);
    setError(outcome.status === 'error' ? outcome.error : undefined);
    if (outcome.status !== 'ok') return;
    announce(t('deviceApproved', { name: line(outcome.output.deviceName) }));
    setCode('');
    props.onDone();
  }

  async function begin(): Promise<void> {
    setError(undefined);
    const found = await find(code().trim());
    if (found === undefined) await approve();
    else setWaiting(found);
  }

  return (
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        void begin();
      }}
    >
      <label>
        <span>{t('linkDevice')}</span>
        <input
          required
          minLength={4}
          maxLength={20}
          autocomplete="one-time-code"
          autocapitalize="characters"
          spellcheck={false}
          placeholder="BCDF-GHJK"
          value={code()}
          onInput={(event) => setCode(event.currentTarget.value)}
        />
      </label>
      <p class="muted">{t('linkDeviceHow')}</p>
      <Show
        when={waiting()}
        fallback={
          <p class="buttons">
            <button type="submit" class="primary">
              {t('approve')}
            </button>
          </p>
        }
      >
        {(device) => (
          <>
            <p role="status">
              {t('keyCheckThere', { name: line(device().deviceName), check: device().check })}
            </p>
            <p class="buttons">
              <button
                type="button"
                class="primary"
                onClick={() =>
                  void sealText(fileKey.get() ?? '', device().recipient).then((sealed) => approve(sealed))
                }
              >
                {t('keyCheckSame')}
              </button>
              <button type="button" onClick={() => setWaiting(undefined)}>
                {t('keyCheckOther')}
              </button>
            </p>
          </>
        )}
      </Show>
      <Problem error={error()} />
    </form>
  );
}
