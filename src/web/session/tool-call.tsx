import { createMemo, For, type JSX, Match, Show, Switch } from 'solid-js';
import { toVisibleText } from '../../core/visible-text.ts';
import { t, tOr } from '../i18n/index.ts';
import { line, Stranger } from '../ui/text.tsx';
import { diffLines } from './diff.ts';
import { FileCard } from '../files/file-card.tsx';
import { toFileDisplay } from '../files/file-state.ts';
import type { Entry } from './entries.ts';

type Tool = Pick<Extract<Entry, { kind: 'tool' }>, 'title' | 'toolKind' | 'status' | 'content'>;

interface Piece {
  type?: string;
  path?: string;
  oldText?: string | null;
  newText?: string;
  content?: { type?: string; text?: string };
}

/** A step of the agent: what it is, how it stands, and what it changed or said. */
export function ToolCall(props: { tool: Tool; open?: boolean }): JSX.Element {
  const content = () =>
    (props.tool.content ?? {}) as { content?: unknown; rawInput?: unknown; rawOutput?: unknown };
  const pieces = createMemo(() => {
    const { content: found } = content();
    return Array.isArray(found) ? (found as (Piece | null)[]).filter((piece) => piece !== null) : [];
  });
  const file = createMemo(() => toFileDisplay(props.tool.content));
  const hasDiff = () => pieces().some(({ type }) => type === 'diff');
  const status = () => props.tool.status ?? 'pending';
  return (
    <details class="tool" open={props.open === true || hasDiff() || file() !== undefined}>
      <summary>
        <span class={`tool-status ${status()}`}>{tOr(`tool_status_${status()}`, line(status()))}</span>
        <span class="tool-title" dir="auto">
          {line(props.tool.title)}
        </span>
        <Show when={props.tool.toolKind}>
          {(kind) => <span class="muted">{tOr(`tool_${kind()}`, line(kind()))}</span>}
        </Show>
      </summary>
      <div class="tool-body">
        <Show when={file()}>{(display) => <FileCard display={display()} />}</Show>
        <For each={pieces()}>
          {(piece) => (
            <Switch>
              <Match when={piece.type === 'diff'}>
                <Diff path={piece.path ?? ''} before={piece.oldText ?? ''} after={piece.newText ?? ''} />
              </Match>
              <Match when={typeof piece.content?.text === 'string'}>
                <div class="output">
                  <Stranger text={piece.content?.text ?? ''} />
                </div>
              </Match>
            </Switch>
          )}
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
