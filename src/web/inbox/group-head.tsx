import { For, type JSX, Show } from 'solid-js';
import { t } from '../i18n/index.ts';
import { A } from '../ui/router.tsx';
import { line } from '../ui/text.tsx';
import type { InboxItem } from './inbox-state.ts';

/** Whose cards follow: the session, and the sessions above it. */
export function GroupHead(props: { items: InboxItem[] }): JSX.Element {
  const first = () => props.items[0];
  const lineage = () => {
    const { lineage = [], sessionId } = first() ?? {};
    return lineage.length > 0 || sessionId === undefined ? lineage : [{ sessionId }];
  };
  return (
    <h2 class="group-head">
      <Show when={lineage().length > 0} fallback={t('noSession')}>
        <For each={lineage()}>
          {(step: { sessionId: string; title?: string }, i) => (
            <>
              <Show when={i() > 0}>
                <span class="sep" aria-hidden="true">
                  ›
                </span>
              </Show>
              <A href={`/sessions/${step.sessionId}`} dir="auto">
                {step.title === undefined ? step.sessionId.slice(0, 12) : line(step.title)}
              </A>
            </>
          )}
        </For>
        <Show when={first()?.agentId}>{(agentId) => <span class="muted">{line(agentId())}</span>}</Show>
      </Show>
    </h2>
  );
}
