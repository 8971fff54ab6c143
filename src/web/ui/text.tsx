import { createMemo, createSignal, type JSX, Show } from 'solid-js';
import { toVisibleText } from '../../core/visible-text.ts';
import { t } from '../i18n/index.ts';

/** Text of strangers on one line, with what is invisible made visible. Never markup. */
export const line = (text: string): string => toVisibleText(text, { singleLine: true });

const CLAMP_LINES = 14;
const CLAMP_CHARS = 1600;

/** A long text with both of its ends; all of it on request. */
function toEnds(text: string): string | undefined {
  const lines = text.split('\n');
  if (lines.length <= CLAMP_LINES && text.length <= CLAMP_CHARS) return undefined;
  const head = lines
    .slice(0, CLAMP_LINES - 4)
    .join('\n')
    .slice(0, CLAMP_CHARS - 400);
  const tail = lines.slice(-3).join('\n').slice(-300);
  return `${head}\n…\n${tail}`;
}

/** Text of strangers as it stands, lines kept, cut in the middle where it is long. */
export function Stranger(props: { text: string; class?: string }): JSX.Element {
  const [whole, setWhole] = createSignal(false);
  const visible = createMemo(() => toVisibleText(props.text));
  const ends = createMemo(() => toEnds(visible()));
  return (
    <>
      <span class={`stranger ${props.class ?? ''}`} dir="auto">
        {whole() ? visible() : (ends() ?? visible())}
      </span>
      <Show when={ends() !== undefined}>
        <button type="button" class="link" aria-expanded={whole()} onClick={() => setWhole(!whole())}>
          {whole() ? t('showLess') : t('showAll', { n: visible().length.toLocaleString() })}
        </button>
      </Show>
    </>
  );
}
