import { For, type JSX } from 'solid-js';
import { t, type TextKey } from '../i18n/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { PAGES } from './pages.ts';

const KEYS: [keys: string[], meaning: TextKey][] = [
  [['j'], 'keyNext'],
  [['k'], 'keyPrevious'],
  [['a'], 'keyApprove'],
  [['d'], 'keyDeny'],
  [['x'], 'keySelect'],
  [['Enter'], 'keyOpen'],
  [['/'], 'keySearch'],
  [['c'], 'keyNew'],
  [['?'], 'shortcuts'],
];

export function ShortcutsDialog(props: { onClose: () => void }): JSX.Element {
  return (
    <Dialog title={t('shortcuts')} onClose={props.onClose}>
      <dl class="keys">
        <For each={PAGES}>
          {(page) => (
            <div>
              <dt>
                <kbd>g</kbd> <kbd>{page.key}</kbd>
              </dt>
              <dd>{t(page.title)}</dd>
            </div>
          )}
        </For>
        <For each={KEYS}>
          {([keys, meaning]) => (
            <div>
              <dt>
                <For each={keys}>{(key) => <kbd>{key}</kbd>}</For>
              </dt>
              <dd>{t(meaning)}</dd>
            </div>
          )}
        </For>
      </dl>
    </Dialog>
  );
}
