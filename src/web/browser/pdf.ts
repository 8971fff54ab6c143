import { AnnotationMode, getDocument, PDFWorker, VerbosityLevel } from 'pdfjs-dist';
// oxlint-disable-next-line import/default -- made by the build
import PdfThread from 'pdfjs-dist/build/pdf.worker.min.mjs?worker';

/** Milliseconds for one step, after which its thread is ended: a file can be made to take for ever. */
const STEP_MS = 12_000;
/** Most pixels of a picture in it, and of a page as it is drawn. */
const MAX_IMAGE_PIXELS = 24_000_000;
const MAX_PAGE_PIXELS = 8_000_000;
/** Most characters of a page's text for those who cannot see it. */
const MAX_TEXT = 20_000;

export interface Pdf {
  pages: number;
  /** Draws a page, numbered from 1, so many CSS pixels wide. @returns its text @throws for one that cannot be drawn */
  draw(page: number, canvas: HTMLCanvasElement, width: number): Promise<string>;
  close(): void;
}

/**
 * Reads a PDF in a thread of its own. Nothing in it runs and nothing is fetched: no scripts, no forms, no links, no fonts or
 * maps from elsewhere. @throws for what is none, is damaged, or takes too long
 */
export async function openPdf(data: Uint8Array): Promise<Pdf> {
  const thread = new PdfThread();
  const worker = PDFWorker.create({ port: thread, verbosity: VerbosityLevel.ERRORS });
  let closed = false;
  let drawing: { cancel(): void } | undefined;
  function close(): void {
    if (closed) return;
    closed = true;
    drawing?.cancel();
    worker.destroy();
    thread.terminate();
  }
  async function within<T>(step: Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('it takes too long')), STEP_MS);
    });
    // A thread that ended by itself answers no more.
    const died = new Promise<never>((_, reject) => {
      thread.addEventListener('error', () => reject(new Error('its thread ended')), { once: true });
    });
    step.catch(() => undefined);
    try {
      return await Promise.race([step, late, died]);
    } catch (error) {
      close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  const task = getDocument({
    data,
    worker,
    verbosity: VerbosityLevel.ERRORS,
    isEvalSupported: false,
    enableXfa: false,
    useWasm: false,
    useWorkerFetch: false,
    disableRange: true,
    disableStream: true,
    disableAutoFetch: true,
    maxImageSize: MAX_IMAGE_PIXELS,
    canvasMaxAreaInBytes: MAX_PAGE_PIXELS * 4,
    stopAtErrors: false,
  });
  // Who could type a password here would not know who asks.
  task.onPassword = () => void task.destroy();
  const document = await within(task.promise);

  async function render(number: number, canvas: HTMLCanvasElement, width: number): Promise<string> {
    const page = await document.getPage(number);
    const own = page.getViewport({ scale: 1 });
    const wanted = (width * Math.min(devicePixelRatio, 2)) / own.width;
    const most = Math.sqrt(MAX_PAGE_PIXELS / (own.width * own.height));
    const viewport = page.getViewport({ scale: Math.min(wanted, most) });
    canvas.width = Math.max(1, Math.floor(viewport.width));
    canvas.height = Math.max(1, Math.floor(viewport.height));
    const task = page.render({ canvas, viewport, annotationMode: AnnotationMode.ENABLE });
    drawing = task;
    await task.promise;
    const { items } = await page.getTextContent();
    const words = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('');
    page.cleanup();
    return words.slice(0, MAX_TEXT);
  }

  return {
    pages: document.numPages,
    draw: (page, canvas, width) => within(render(page, canvas, width)),
    close,
  };
}
