import { createSignal, For, type JSX, Show } from 'solid-js';
import type { WireError } from '../../../core/errors.ts';
import { toVisibleText } from '../../../core/visible-text.ts';
import { actions, must } from '../../api/call.ts';
import { toWire } from '../../api/live.ts';
import { createPaged } from '../../api/pages.ts';
import { t } from '../../i18n/index.ts';
import { announce } from '../../ui/announce.ts';
import { MoreOf } from '../../ui/load-more.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Rows } from '../../ui/rows.tsx';
import { line } from '../../ui/text.tsx';
import { isNewsOf, type Tool } from './servers.ts';

/** Tools a page. All of what is accepted together is shown whole. */
const PAGE = 20;

/** What a server says anew, against what was accepted of it; accepted as it stands here and not otherwise. */
export function ToolReview(props: { server: string; onAccepted: () => void }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  const [error, setError] = createSignal<WireError>();
  const [busy, setBusy] = createSignal(false);
  /** Each tool as the person sees it: what comes after that is shown only when it is asked for. */
  const [seen, setSeen] = createSignal(new Map<string, Tool>());
  const held = createPaged<Tool>(
    async (place) => {
      const { tools: items, nextCursor } = await must(
        actions.mcp.tool.list({ server: props.server, state: 'held_back', limit: PAGE, ...place }),
      );
      return { items, nextCursor };
    },
    (news) => isNewsOf(props.server, news),
    (rows) => {
      const before = open() ? seen() : new Map<string, Tool>();
      setSeen(new Map(rows.map((tool) => [tool.name, before.get(tool.name) ?? tool])));
    },
  );

  async function accept(tools: Tool[]): Promise<void> {
    setBusy(true);
    try {
      const wanted = tools.map(({ name, digest }) => ({ name, digest }));
      await must(actions.mcp.tool.accept({ server: props.server, tools: wanted }));
      setError(undefined);
      announce(t('mcpAccepted', { n: tools.length }));
    } catch (failure) {
      setError(toWire(failure));
    }
    await held.refresh();
    setBusy(false);
    props.onAccepted();
  }

  return (
    <section class="review" aria-label={t('mcpReview')}>
      <p>
        <strong>{t('mcpReview')}</strong> {t('mcpReviewHow')}
      </p>
      <Problem error={error() ?? held.error()} />
      <Show
        when={open()}
        fallback={
          <p>
            <button type="button" onClick={() => setOpen(true)}>
              {t('mcpLook')}
            </button>
          </p>
        }
      >
        <Rows each={[...seen().values()]} by={({ name }) => name}>
          {(tool) => (
            <HeldTool
              tool={tool()}
              latest={held.data()?.rows.find(({ name }) => name === tool().name) ?? tool()}
              busy={busy()}
              onAccept={() => void accept([tool()])}
              onLookAgain={(latest) => setSeen(new Map(seen()).set(latest.name, latest))}
            />
          )}
        </Rows>
        <MoreOf list={held} />
        <Show when={seen().size > 1}>
          <p class="buttons">
            <button type="button" disabled={busy()} onClick={() => void accept([...seen().values()])}>
              {t('mcpAcceptAll', { n: seen().size })}
            </button>
          </p>
        </Show>
      </Show>
    </section>
  );
}

function HeldTool(props: {
  tool: Tool;
  latest: Tool;
  busy: boolean;
  onAccept: () => void;
  onLookAgain: (latest: Tool) => void;
}): JSX.Element {
  const isOld = () => props.latest.digest !== props.tool.digest;
  return (
    <article class="held" aria-label={line(props.tool.name)}>
      <h3>
        <code dir="auto">{line(props.tool.name)}</code>{' '}
        <span class={`effect ${props.tool.effect}`}>{t(`effect_${props.tool.effect}`)}</span>
      </h3>
      <Show when={props.tool.reason}>{(reason) => <p>{line(reason())}</p>}</Show>
      <For each={props.tool.changes ?? props.tool.says ?? []}>
        {({ field, before, after }) => (
          <div class="change">
            <p class="muted">
              <code dir="auto">{line(field)}</code>
            </p>
            <Show when={before !== undefined}>
              <Side words={t('mcpBefore')} kind="del" text={before ?? ''} />
            </Show>
            <Show when={after !== undefined}>
              <Side words={t('mcpNow')} kind="add" text={after ?? ''} />
            </Show>
          </div>
        )}
      </For>
      <Show when={isOld()}>
        <div class="problem" role="status">
          <p>{t('mcpChangedAgain')}</p>
          <button type="button" onClick={() => props.onLookAgain(props.latest)}>
            {t('mcpLookAgain')}
          </button>
        </div>
      </Show>
      <p class="buttons">
        <button
          type="button"
          class="small"
          disabled={props.busy || isOld()}
          aria-label={`${t('mcpAccept')}: ${line(props.tool.name)}`}
          onClick={() => props.onAccept()}
        >
          {t('mcpAccept')}
        </button>
      </p>
    </article>
  );
}

/** Shown whole: the backend has bounded it, and what is folded away is not seen. */
function Side(props: { words: string; kind: 'add' | 'del'; text: string }): JSX.Element {
  return (
    <p class={`side-text ${props.kind}`}>
      <span class="muted">{props.words}</span>
      <span class="stranger" dir="auto">
        {props.text === '' ? '–' : toVisibleText(props.text)}
      </span>
    </p>
  );
}
