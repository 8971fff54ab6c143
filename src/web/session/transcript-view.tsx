import { createEffect, createSignal, type JSX, on, onCleanup, onMount, Show } from 'solid-js';
import { t } from '../i18n/index.ts';
import { Problem } from '../ui/problem.tsx';
import { Rows } from '../ui/rows.tsx';
import { Stranger } from '../ui/text.tsx';
import { AgentWords } from './agent-words.tsx';
import { EntryView } from './entry-view.tsx';
import type { Stretch, Transcript } from './transcript-state.ts';

/** Pixels around what is seen within which stretches are drawn; and from the top at which older events are read. */
const AROUND = 1600;
const NEAR_TOP = 900;
/** Pixels from the end that still count as its end. */
const NEAR_END = 60;
/** Milliseconds after a wheel, a finger or a key moved the transcript in which it may still be on its way. */
const BY_HAND_MS = 1000;
const UP_KEYS = ['ArrowUp', 'PageUp', 'Home', ' '];

/** The transcript in a window of its own: what is far away is a blank of the same height. */
export function TranscriptView(props: {
  transcript: Transcript;
  sessionId: string;
  /** Another number: go to the end, and follow it. */
  follow: number;
}): JSX.Element {
  let scroller: HTMLDivElement | undefined;
  let content: HTMLDivElement | undefined;
  let loadingOlder = false;
  const [atEnd, setAtEnd] = createSignal(true);
  let lastTop = 0;
  let movedAt = 0;

  const toEnd = () => scroller?.scrollTo(0, scroller.scrollHeight);

  async function loadOlder(): Promise<void> {
    if (scroller === undefined || loadingOlder || !props.transcript.hasOlder()) return;
    loadingOlder = true;
    const before = scroller.scrollHeight;
    await props.transcript.loadOlder();
    // What was in sight stays where it was.
    scroller.scrollTop += scroller.scrollHeight - before;
    loadingOlder = false;
  }

  function byHand(event: Event): void {
    // A press on something in it is no scrolling; on the bar at its side it is.
    if (event.type === 'pointerdown' && event.target !== scroller) return;
    if (event instanceof KeyboardEvent && !UP_KEYS.includes(event.key)) return;
    movedAt = performance.now();
  }

  function onScroll(): void {
    if (scroller === undefined) return;
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    // Only somebody who goes up stops the following: what is shown grows and shrinks by itself, and is moved by that.
    const isByHand = performance.now() - movedAt < BY_HAND_MS;
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) setAtEnd(true);
    else if (scrollTop < lastTop && isByHand) setAtEnd(false);
    lastTop = scrollTop;
    if (scrollTop < NEAR_TOP) void loadOlder();
  }

  onMount(() => {
    const observer = new ResizeObserver(() => atEnd() && toEnd());
    observer.observe(content!);
    observer.observe(scroller!);
    onCleanup(() => observer.disconnect());
  });
  createEffect(
    on(
      () => props.follow,
      () => {
        setAtEnd(true);
        toEnd();
      },
      { defer: true },
    ),
  );
  createEffect(
    on(props.transcript.loaded, (loaded) => {
      if (loaded) requestAnimationFrame(() => (toEnd(), onScroll()));
    }),
  );

  return (
    <div
      class="transcript"
      ref={scroller}
      onScroll={onScroll}
      on:wheel={{ handleEvent: byHand, passive: true }}
      on:touchmove={{ handleEvent: byHand, passive: true }}
      onPointerDown={byHand}
      onKeyDown={byHand}
      tabindex="0"
      role="log"
      aria-label={t('transcript')}
    >
      <div class="transcript-content" ref={content}>
        <Problem error={props.transcript.error()} />
        <Show when={props.transcript.loaded()} fallback={<p class="loading">{t('loading')}</p>}>
          <Show
            when={props.transcript.hasOlder()}
            fallback={
              <p class="note plain">
                {t(props.transcript.entries().size === 0 ? 'emptyTranscript' : 'beginning')}
              </p>
            }
          >
            <button type="button" class="quiet older" onClick={() => void loadOlder()}>
              {t('older')}
            </button>
          </Show>
        </Show>
        <Rows each={props.transcript.stretches()} by={({ id }) => String(id)}>
          {(stretch) => <StretchView stretch={stretch()} scroller={() => scroller!} {...props} />}
        </Rows>
        <Show when={props.transcript.liveNew()}>
          {(live) => (
            <div class={`entry of-${live().kind}`}>
              <Show
                when={live().kind === 'text'}
                fallback={
                  <div class="thoughts">
                    <Stranger text={live().text} />
                  </div>
                }
              >
                <AgentWords text={live().text} />
              </Show>
            </div>
          )}
        </Show>
      </div>
      <Show when={!atEnd()}>
        <button type="button" class="to-end" onClick={toEnd}>
          {t('toNewest')} ↓
        </button>
      </Show>
    </div>
  );
}

function StretchView(props: {
  stretch: Stretch;
  scroller: () => HTMLElement;
  transcript: Transcript;
  sessionId: string;
}): JSX.Element {
  const [height, setHeight] = createSignal<number>();
  let box: HTMLDivElement | undefined;
  onMount(() => {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry === undefined || box === undefined) return;
        const holdsFocus = box.contains(document.activeElement);
        setHeight(entry.isIntersecting || holdsFocus ? undefined : entry.boundingClientRect.height);
      },
      { root: props.scroller(), rootMargin: `${AROUND}px 0px` },
    );
    observer.observe(box!);
    onCleanup(() => observer.disconnect());
  });
  return (
    <div ref={box} class="stretch" style={{ height: height() === undefined ? undefined : `${height()}px` }}>
      <Show when={height() === undefined}>
        <Rows each={props.stretch.entries} by={({ key }) => key}>
          {(entry) => <EntryView entry={entry()} sessionId={props.sessionId} transcript={props.transcript} />}
        </Rows>
      </Show>
    </div>
  );
}
