import { createSignal, type JSX, lazy, Match, onCleanup, Show, Switch } from 'solid-js';
import { createAsked } from '../api/asked.ts';
import { t } from '../i18n/index.ts';
import { line, Stranger } from '../ui/text.tsx';
import type { PreviewKind } from './preview-kind.ts';

/** Loaded with the first PDF that somebody wants to see. */
const PdfView = lazy(() => import('./pdf-view.tsx'));

/** What is in a file, shown without anything in it being run. */
export function Preview(props: { kind: PreviewKind; blob: Blob; name: string }): JSX.Element {
  // One file a component: what it was made of does not change.
  const { kind, blob } = props;
  const isMedia = kind === 'picture' || kind === 'audio';
  const url = isMedia ? URL.createObjectURL(blob) : '';
  const [broken, setBroken] = createSignal(false);
  const text = createAsked(
    () => (kind === 'text' ? blob : undefined),
    (words) => words.text(),
  );
  onCleanup(() => isMedia && URL.revokeObjectURL(url));
  return (
    <Switch>
      <Match when={broken()}>
        <p class="problem" role="alert">
          {t('cannotBeShown')}
        </p>
      </Match>
      <Match when={kind === 'picture'}>
        <img class="picture" src={url} alt={line(props.name)} onError={() => setBroken(true)} />
      </Match>
      <Match when={kind === 'audio'}>
        <audio controls src={url} aria-label={line(props.name)} onError={() => setBroken(true)} />
      </Match>
      <Match when={kind === 'pdf'}>
        <PdfView blob={blob} name={props.name} />
      </Match>
      <Match when={kind === 'text'}>
        <Show when={text.data() !== undefined} fallback={<p class="muted">{t('loading')}</p>}>
          <Show when={text.data()} fallback={<p class="muted">{t('fileEmpty')}</p>}>
            {(words) => (
              <div class="output">
                <Stranger text={words()} />
              </div>
            )}
          </Show>
        </Show>
      </Match>
    </Switch>
  );
}
