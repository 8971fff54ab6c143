import { createSignal, For, type JSX, Show } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { DELIVERIES, type Delivery } from '../../core/session.ts';
import { actions } from '../api/call.ts';
import { kept, newId } from '../browser/host.ts';
import { t } from '../i18n/index.ts';
import { Problem } from '../ui/problem.tsx';
import { line } from '../ui/text.tsx';
import { useSession } from './session-context.ts';
import type { Transcript } from './transcript-state.ts';

const NAMES = { queue: 'queue', steer: 'steer', interrupt: 'interruptAndSend' } as const;

/** Where messages are written. A message that was not taken stays in the field; a draft outlives the page. */
export function Composer(props: {
  sessionId: string;
  transcript: Transcript;
  /** Somebody sends: they want to see what comes of it. */
  onSend: () => void;
}): JSX.Element {
  const session = useSession();
  const draftName = `draft.${props.sessionId}`;
  const [text, setText] = createSignal(kept.get(draftName) ?? '');
  const [delivery, setDelivery] = createSignal<Delivery>('queue');
  const [sent, setSent] = createSignal<{ messageId: string; text: string }[]>([]);
  const [error, setError] = createSignal<WireError>();
  /** Of the text that is being sent: sent again after a broken connection, it is still one message. */
  let messageId = newId();

  const isRunning = () => ['running', 'waiting'].includes(session()?.status ?? '');
  const queued = () =>
    sent().filter((message) => !props.transcript.entries().has(`user:${message.messageId}`));

  function write(next: string): void {
    setText(next);
    kept.set(draftName, next === '' ? undefined : next);
  }

  async function send(): Promise<void> {
    const message = text().trim();
    if (message === '') return;
    const id = messageId;
    messageId = newId();
    setError(undefined);
    write('');
    props.onSend();
    setSent([...queued(), { messageId: id, text: message }]);
    const outcome = await actions.session.message.send({
      sessionId: props.sessionId,
      message,
      messageId: id,
      delivery: isRunning() ? delivery() : 'queue',
    });
    if (outcome.status === 'ok') return;
    setSent(sent().filter((each) => each.messageId !== id));
    if (outcome.status === 'error') setError(outcome.error);
    if (text() === '') {
      write(message);
      messageId = id;
    }
  }

  async function interrupt(): Promise<void> {
    const outcome = await actions.session.interrupt({ sessionId: props.sessionId });
    setError(outcome.status === 'error' ? outcome.error : undefined);
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Problem error={error()} />
      <Show when={queued().length > 0}>
        <ul class="queued" aria-label={t('queuedMessages')}>
          <For each={queued()}>
            {(message) => (
              <li>
                <span class="muted">{t('queuedMessages')}</span> {line(message.text.slice(0, 200))}
              </li>
            )}
          </For>
        </ul>
      </Show>
      <div class="composer-box">
        <textarea
          rows="2"
          aria-label={t('message')}
          placeholder={t('messageHow')}
          value={text()}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <div class="composer-row">
          <Show when={isRunning()}>
            <select
              aria-label={t('delivery')}
              value={delivery()}
              onChange={(event) => setDelivery(event.currentTarget.value as Delivery)}
            >
              <For each={DELIVERIES}>{(name) => <option value={name}>{t(NAMES[name])}</option>}</For>
            </select>
            <button type="button" onClick={() => void interrupt()}>
              {t('interrupt')}
            </button>
          </Show>
          <button type="submit" class="primary" disabled={text().trim() === ''}>
            {t('send')}
          </button>
        </div>
      </div>
    </form>
  );
}
