import { createMemo, For, type JSX, Show } from 'solid-js';
import { toVisibleText } from '../../core/visible-text.ts';
import { t, tOr } from '../i18n/index.ts';
import { line, Stranger } from '../ui/text.tsx';
import { diffLines } from './diff.ts';
import { FileCard } from '../files/file-card.tsx';
import { toFileDisplay } from '../files/file-state.ts';
import type { Entry } from './entries.ts';
import { toPieces } from './tool-pieces.ts';

type Tool = Pick<Extract<Entry, { kind: 'tool' }>, 'title' | 'toolKind' | 'status' | 'content'>;

/** A step of the agent: what it is, how it stands, and what it changed or said. */
export function ToolCall(props: { tool: Tool; open?: boolean }): JSX.Element {
  const content = () =>
    (props.tool.content ?? {}) as { content?: unknown; rawInput?: unknown; rawOutput?: unknown };
  const pieces = createMemo(() => toPieces(content().content));
  const file = createMemo(() => toFileDisplay(props.tool.content));
  const hasDiff = () => pieces().some((piece) => 'diff' in piece);
  const status = () => props.tool.status ?? 'pending';
  return (
    <details class="tool" open={props.open === true || hasDiff() || file() !== undefined}>
      <summary>
        <span class={`tool-status ${status()}`}>{tOr(`tool_status_${status()}`, line(status()))}</span>
        <span class="tool-title" dir="auto">
          {line(props.tool.title)}
        </span>
        <Show when={props.tool.toolKind !== 'other' && props.tool.toolKind}>
          {(kind) => <span class="muted">{tOr(`tool_${kind()}`, line(kind()))}</span>}
        </Show>
      </summary>
      <div class="tool-body">
        <Show when={file()}>{(display) => <FileCard display={display()} />}</Show>
        <For each={pieces()}>
          {(piece) =>
            'diff' in piece ? (
              <Diff {...piece.diff} />
            ) : (
              <div class="output">
                <Stranger text={piece.text} />
              </div>
            )
          }
        </For>
        <Show when={content().rawInput !== undefined}>
          <div class="output">
            <Stranger text={JSON.stringify(content().rawInput, undefined, 2)} />
          </div>
        </Show>
        <Show when={pieces().length === 0 && content().rawOutput !== undefined}>
          <div class="output">
            <Stranger text={JSON.stringify(content().rawOutput, undefined, 2)} />
          </div>
        </Show>
      </div>
    </details>
  );
}

const MARKS = { same: ' ', add: '+', del: '−', skip: ' ' } as const;

function Diff(props: { path: string; before: string; after: string }): JSX.Element {
  const lines = createMemo(() => diffLines(props.before, props.after));
  return (
    <figure class="diff">
      <figcaption dir="ltr">{line(props.path)}</figcaption>
      <Show
        when={lines()}
        fallback={
          <>
            <p class="muted">{t('diffTooLong')}</p>
            <Stranger text={props.after} />
          </>
        }
      >
        {(found) => (
          <pre tabindex="0">
            <For each={found()}>
              {(each) => (
                <span class={each.kind}>
                  {MARKS[each.kind]} {toVisibleText(each.text)}
                  {'\n'}
                </span>
              )}
            </For>
          </pre>
        )}
      </Show>
    </figure>
  );
}
