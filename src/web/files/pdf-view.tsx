import { createEffect, createSignal, type JSX, onCleanup, onMount, Show } from 'solid-js';
import { openPdf, type Pdf } from '../browser/pdf.ts';
import { t } from '../i18n/index.ts';
import { line } from '../ui/text.tsx';

/** Widest that a page is drawn, CSS pixels. */
const MAX_WIDTH = 900;

/** A PDF, page by page, as pictures. */
export default function PdfView(props: { blob: Blob; name: string }): JSX.Element {
  const [broken, setBroken] = createSignal(false);
  const [pages, setPages] = createSignal(0);
  const [page, setPage] = createSignal(1);
  const [words, setWords] = createSignal('');
  const opened = open(props.blob);
  let box: HTMLDivElement | undefined;
  let canvas: HTMLCanvasElement | undefined;
  let gone = false;

  async function open(blob: Blob): Promise<Pdf | undefined> {
    try {
      const pdf = await openPdf(new Uint8Array(await blob.arrayBuffer()));
      if (gone) pdf.close();
      return pdf;
    } catch {
      setBroken(true);
      return undefined;
    }
  }
  onCleanup(() => {
    gone = true;
    void opened.then((pdf) => pdf?.close());
  });
  onMount(() => void opened.then((pdf) => setPages(pdf?.pages ?? 0)));

  /** One page after the other: a canvas takes one drawing at a time. */
  let drawing: Promise<void> = Promise.resolve();
  async function draw(wanted: number): Promise<void> {
    const pdf = await opened;
    // Somebody leafs on while an earlier page is being drawn.
    if (pdf === undefined || gone || wanted !== page()) return;
    try {
      setWords(await pdf.draw(wanted, canvas!, Math.min(box!.clientWidth, MAX_WIDTH)));
    } catch {
      setBroken(true);
    }
  }
  createEffect(() => {
    const wanted = page();
    if (pages() > 0 && !broken()) drawing = drawing.then(() => draw(wanted));
  });

  return (
    <div class="pdf" ref={box}>
      <Show
        when={!broken()}
        fallback={
          <p class="problem" role="alert">
            {t('pdfBroken')}
          </p>
        }
      >
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${line(props.name)}: ${t('pageOf', { n: page(), total: pages() })}`}
        />
        <p class="hidden-text">{line(words())}</p>
        <p class="buttons">
          <Show when={pages() > 1}>
            <button type="button" class="small" disabled={page() <= 1} onClick={() => setPage(page() - 1)}>
              {t('pagePrevious')}
            </button>
          </Show>
          <span role="status">
            {pages() === 0 ? t('loading') : t('pageOf', { n: page(), total: pages() })}
          </span>
          <Show when={pages() > 1}>
            <button
              type="button"
              class="small"
              disabled={page() >= pages()}
              onClick={() => setPage(page() + 1)}
            >
              {t('pageNext')}
            </button>
          </Show>
        </p>
      </Show>
    </div>
  );
}
