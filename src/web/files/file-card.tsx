import { createSignal, type JSX, Match, Show, Suspense, Switch } from 'solid-js';
import type { FileDisplay, SealedDescription } from '../../core/file.ts';
import { createAsked } from '../api/asked.ts';
import { lang, t } from '../i18n/index.ts';
import { line, Stranger } from '../ui/text.tsx';
import { createFileOpener, describe } from './file-state.ts';
import { Preview } from './preview.tsx';
import { previewOf } from './preview-kind.ts';

type Shown = Pick<FileDisplay, 'fileId' | 'sizeBytes' | 'sealed'>;

/** A file that an agent sent: only this browser, with the key, can say what it is. */
export function FileCard(props: { display: Shown }): JSX.Element {
  const described = createAsked(() => props.display, describe);
  const found = () => {
    const answer = described.data();
    return answer?.as === 'described' ? answer.file : undefined;
  };
  return (
    <div class="file-card">
      <Switch fallback={<p class="muted">{t('loading')}</p>}>
        <Match when={found()}>{(file) => <OpenFile file={file()} />}</Match>
        <Match when={described.data()?.as === 'no_key'}>
          <p>
            <strong>{t('encryptedFile')}</strong> {sizeOf(props.display.sizeBytes)}
          </p>
          <p class="muted">{t('noFileKey')}</p>
          <Command fileId={props.display.fileId} />
        </Match>
        <Match when={described.data()?.as === 'damaged'}>
          <p class="problem">{t('fileDamaged')}</p>
        </Match>
      </Switch>
    </div>
  );
}

const Command = (props: { fileId: string }): JSX.Element => (
  <pre class="command">kaiwu file get {props.fileId}</pre>
);

const UNITS = [
  { unit: 'gigabyte', size: 1e9 },
  { unit: 'megabyte', size: 1e6 },
  { unit: 'kilobyte', size: 1e3 },
  { unit: 'byte', size: 1 },
];

export function sizeOf(bytes: number): string {
  const { unit, size } = UNITS.find((each) => bytes >= each.size) ?? { unit: 'byte', size: 1 };
  // Short for bytes would be "3 byte" in English.
  const unitDisplay = unit === 'byte' ? 'long' : 'short';
  const format = new Intl.NumberFormat(lang(), {
    style: 'unit',
    unit,
    unitDisplay,
    maximumFractionDigits: 1,
  });
  return format.format(bytes / size);
}

function OpenFile(props: { file: SealedDescription }): JSX.Element {
  const opener = createFileOpener(props.file);
  const [blob, setBlob] = createSignal<Blob>();
  const kind = () => previewOf(props.file);
  const shownAs = () => {
    const found = kind();
    return found === 'too_large' ? undefined : found;
  };
  // A button that is disabled loses the focus, and does not get it back.
  const isBusy = () => opener.progress() !== undefined;
  function togglePreview(): void {
    if (blob() !== undefined) setBlob(undefined);
    else if (!isBusy()) void opener.open().then(setBlob);
  }

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
        <button
          type="button"
          aria-label={`${t('download')}: ${line(props.file.fileName)}`}
          aria-disabled={isBusy()}
          onClick={() => isBusy() || void opener.save()}
        >
          {t('download')}
        </button>
        <Show when={shownAs() !== undefined}>
          <button
            type="button"
            class="quiet"
            aria-label={`${blob() === undefined ? t('previewFile') : t('previewClose')}: ${line(props.file.fileName)}`}
            aria-expanded={blob() !== undefined}
            aria-disabled={isBusy()}
            onClick={togglePreview}
          >
            {blob() === undefined ? t('previewFile') : t('previewClose')}
          </button>
        </Show>
        <Show when={opener.progress() !== undefined}>
          <progress aria-label={t('download')} value={opener.progress()} max="1" />
          <button type="button" class="quiet" onClick={() => opener.cancel()}>
            {t('cancel')}
          </button>
        </Show>
      </p>
      <Show when={kind() === 'too_large'}>
        <p class="muted">{t('previewTooLarge')}</p>
      </Show>
      <p class="muted" role="status">
        {opener.saved() ? t('fileSaved') : ''}
      </p>
      <Show when={opener.problem()}>
        {(problem) => (
          <>
            <p class="problem" role="alert">
              {t(problem())}
            </p>
            <Show when={problem() === 'fileTooLargeHere'}>
              <Command fileId={props.file.fileId} />
            </Show>
          </>
        )}
      </Show>
      <Show when={blob()} keyed>
        {(content) => (
          <Suspense fallback={<p class="muted">{t('loading')}</p>}>
            <Preview kind={shownAs()!} blob={content} name={props.file.fileName} />
          </Suspense>
        )}
      </Show>
    </>
  );
}
