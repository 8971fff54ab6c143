import { createResource, type JSX, lazy, Match, onCleanup, Show, Switch } from 'solid-js';
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
  const [text] = createResource(() => (kind === 'text' ? blob.text() : ''));
  onCleanup(() => isMedia && URL.revokeObjectURL(url));
  return (
    <Switch>
      <Match when={kind === 'picture'}>
        <img class="picture" src={url} alt={line(props.name)} />
      </Match>
      <Match when={kind === 'audio'}>
        <audio controls src={url} aria-label={line(props.name)} />
      </Match>
      <Match when={kind === 'pdf'}>
        <PdfView blob={blob} name={props.name} />
      </Match>
      <Match when={kind === 'text'}>
        <Show when={text()}>
          {(words) => (
            <div class="output">
              <Stranger text={words()} />
            </div>
          )}
        </Show>
      </Match>
    </Switch>
  );
}
