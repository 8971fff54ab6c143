import { createEffect, createSignal, type JSX, Show } from 'solid-js';
import { kept } from '../browser/host.ts';
import { t } from '../i18n/index.ts';
import { line } from '../ui/text.tsx';
import { inboxItems, inboxLoaded } from './inbox-state.ts';

const isSupported = typeof Notification === 'function';
const [wanted, setWanted] = createSignal(
  isSupported && kept.get('notify') === 'yes' && Notification.permission === 'granted',
);

/** Turns notifications of this browser on and off. */
export function NotifyButton(): JSX.Element {
  async function toggle(): Promise<void> {
    const next = !wanted() && (await Notification.requestPermission()) === 'granted';
    kept.set('notify', next ? 'yes' : undefined);
    setWanted(next);
  }
  return (
    <Show when={isSupported && Notification.permission !== 'denied'}>
      <button type="button" class="quiet" aria-pressed={wanted()} onClick={() => void toggle()}>
        {t(wanted() ? 'notifyOn' : 'notifyOff')}
      </button>
    </Show>
  );
}

/** Tells of what is new while nobody looks at the page. */
export function startNotifications(): void {
  const known = new Set<string>();
  createEffect(() => {
    if (!inboxLoaded()) return;
    const isFirst = known.size === 0;
    for (const { itemId, kind, title } of inboxItems()) {
      const isNew = !known.has(itemId);
      known.add(itemId);
      if (isNew && !isFirst && wanted() && document.hidden) notify(itemId, t(`kind_${kind}`), title);
    }
    // Something is known now, even where nothing waits.
    known.add('');
  });
}

/** A title is text of strangers: a notification shows no markup, and what is invisible is made visible. */
function notify(itemId: string, kind: string, title: string): void {
  const shown = new Notification(`Kaiwu: ${kind}`, { body: line(title).slice(0, 200), tag: itemId });
  shown.addEventListener('click', () => window.focus());
}
