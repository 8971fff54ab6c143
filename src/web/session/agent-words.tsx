import { createMemo, For, type JSX } from 'solid-js';
import { toVisibleText } from '../../core/visible-text.ts';

/**
 * An agent's words. Of Markdown only what needs no markup is drawn: code, headings and bold as such. Links and pictures stay
 * the text that they are, so nothing can be followed or fetched.
 */
export function AgentWords(props: { text: string }): JSX.Element {
  const parts = createMemo(() => toParts(toVisibleText(props.text)));
  return (
    <div class="words" dir="auto">
      <For each={parts()}>
        {(part) => (part.code ? <pre tabindex="0">{part.text}</pre> : <Prose text={part.text} />)}
      </For>
    </div>
  );
}

/** Text cut at the fences of code blocks. */
function toParts(text: string): { code: boolean; text: string }[] {
  return text
    .split(/^```[^\n]*$\n?/m)
    .map((part, i) => ({ code: i % 2 === 1, text: part.replace(/\n$/, '') }))
    .filter((part) => part.text !== '');
}

function Prose(props: { text: string }): JSX.Element {
  const spans = createMemo(() => props.text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*|^#{1,4} [^\n]+$)/m));
  return (
    <p>
      <For each={spans()}>
        {(span, i) => {
          if (i() % 2 === 0) return span;
          if (span.startsWith('`')) return <code>{span.slice(1, -1)}</code>;
          return <strong>{span.startsWith('**') ? span.slice(2, -2) : span.replace(/^#+ /, '')}</strong>;
        }}
      </For>
    </p>
  );
}
