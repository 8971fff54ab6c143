import { createResource, createSignal, type JSX, Match, onCleanup, Show, Switch } from 'solid-js';
import type { FileDisplay, SealedDescription } from '../../core/file.ts';
import { lang, t } from '../i18n/index.ts';
import { line, Stranger } from '../ui/text.tsx';
import { createFileOpener, describe } from './file-state.ts';

/** Pictures that a browser draws without running anything in them. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp'];
const TEXT = /^(text\/|application\/(json|xml|yaml|toml|javascript)$)/;
/** Longest text that is shown, bytes. */
const MAX_TEXT = 512 * 1024;

/** A file that an agent sent: only this browser, with the key, can say what it is. */
export function FileCard(props: { display: FileDisplay }): JSX.Element {
  const [described] = createResource(() => props.display, describe);
  const found = () => {
    const answer = described();
    return answer?.as === 'described' ? answer.file : undefined;
  };
  return (
    <div class="file-card">
      <Switch fallback={<p class="muted">{t('loading')}</p>}>
        <Match when={found()}>{(file) => <OpenFile file={file()} />}</Match>
        <Match when={described()?.as === 'no_key'}>
          <p>
            <strong>{t('encryptedFile')}</strong> {sizeOf(props.display.sizeBytes)}
          </p>
          <p class="muted">{t('noFileKey')}</p>
          <pre class="command">kaiwu file get {props.display.fileId} --output .</pre>
        </Match>
        <Match when={described()?.as === 'damaged'}>
          <p class="problem">{t('fileDamaged')}</p>
        </Match>
      </Switch>
    </div>
  );
}

const UNITS = [
  { unit: 'megabyte', size: 1e6 },
  { unit: 'kilobyte', size: 1e3 },
  { unit: 'byte', size: 1 },
];

function sizeOf(bytes: number): string {
  const { unit, size } = UNITS.find((each) => bytes >= each.size) ?? { unit: 'byte', size: 1 };
  const format = new Intl.NumberFormat(lang(), { style: 'unit', unit, maximumFractionDigits: 1 });
  return format.format(bytes / size);
}

function OpenFile(props: { file: SealedDescription }): JSX.Element {
  const opener = createFileOpener(props.file);
  const [shown, setShown] = createSignal<{ url: string } | { text: string }>();
  const urls: string[] = [];
  onCleanup(() => {
    for (const url of urls) URL.revokeObjectURL(url);
  });
  const isPicture = () => PICTURES.includes(props.file.mimeType);
  const isAudio = () => props.file.mimeType.startsWith('audio/');
  const isText = () => TEXT.test(props.file.mimeType) && props.file.sizeBytes <= MAX_TEXT;

  function toUrl(blob: Blob): string {
    const url = URL.createObjectURL(blob);
    urls.push(url);
    return url;
  }
  async function preview(): Promise<void> {
    const blob = await opener.open();
    if (blob === undefined) return;
    setShown(isText() ? { text: await blob.text() } : { url: toUrl(blob) });
  }
  async function save(): Promise<void> {
    const blob = await opener.open();
    if (blob === undefined) return;
    const link = document.createElement('a');
    // Whatever it says that it is: saved, it is bytes.
    link.href = toUrl(new Blob([blob], { type: 'application/octet-stream' }));
    link.download = props.file.fileName;
    link.click();
  }
  const url = () => {
    const found = shown();
    return found !== undefined && 'url' in found ? found.url : undefined;
  };
  const text = () => {
    const found = shown();
    return found !== undefined && 'text' in found ? found.text : undefined;
  };

  return (
    <>
      <p>
        <strong dir="auto">{line(props.file.fileName)}</strong>{' '}
        <span class="muted">
          {sizeOf(props.file.sizeBytes)} · {line(props.file.mimeType)}
        </span>
      </p>
      <Show when={props.file.message}>{(message) => <Stranger text={message()} />}</Show>
      <p class="buttons">
        <button type="button" onClick={() => void save()}>
          {t('download')}
        </button>
        <Show when={(isPicture() || isAudio() || isText()) && shown() === undefined}>
          <button type="button" class="quiet" onClick={() => void preview()}>
            {t('previewFile')}
          </button>
        </Show>
        <Show when={opener.progress()}>
          {(share) => <progress aria-label={t('download')} value={share()} max="1" />}
        </Show>
      </p>
      <Show when={opener.failed()}>
        <p class="problem" role="alert">
          {t('fileDamaged')}
        </p>
      </Show>
      <Show when={url()}>
        {(source) => (
          <Show
            when={isPicture()}
            fallback={<audio controls src={source()} aria-label={line(props.file.fileName)} />}
          >
            <img class="picture" src={source()} alt={line(props.file.fileName)} />
          </Show>
        )}
      </Show>
      <Show when={text()}>
        {(words) => (
          <div class="output">
            <Stranger text={words()} />
          </div>
        )}
      </Show>
    </>
  );
}
