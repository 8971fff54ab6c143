import { For, type JSX, Match, Show, Switch } from 'solid-js';
import { t, tOr } from '../i18n/index.ts';
import { line, Stranger } from '../ui/text.tsx';
import { clockTime, fullTime } from '../ui/time.ts';
import { AgentWords } from './agent-words.tsx';
import { AskView } from './ask-view.tsx';
import type { Entry, Note } from './entries.ts';
import { ToolCall } from './tool-call.tsx';
import type { Transcript } from './transcript-state.ts';

type Of<K extends Entry['kind']> = Extract<Entry, { kind: K }>;

/** One entry of a transcript. */
export function EntryView(props: { entry: Entry; sessionId: string; transcript: Transcript }): JSX.Element {
  const as = <K extends Entry['kind']>(...kinds: K[]) =>
    kinds.includes(props.entry.kind as K) ? (props.entry as Of<K>) : undefined;
  return (
    <div class={`entry of-${props.entry.kind}`} data-seq={props.entry.seq}>
      <Switch>
        <Match when={as('user')}>
          {(entry) => (
            <article aria-label={t('you')}>
              <header>
                <span>{t('you')}</span>
                <Show when={entry().steered}>
                  <span class="muted">{t('steered')}</span>
                </Show>
                <time datetime={entry().at} title={fullTime(entry().at)}>
                  {clockTime(entry().at)}
                </time>
              </header>
              <Stranger text={entry().text} />
            </article>
          )}
        </Match>
        <Match when={as('text')}>
          {(entry) => <AgentWords text={entry().text + props.transcript.liveTail(entry())} />}
        </Match>
        <Match when={as('thought')}>
          {(entry) => (
            <details class="thoughts">
              <summary>{t('thoughts')}</summary>
              <Stranger text={entry().text + props.transcript.liveTail(entry())} />
            </details>
          )}
        </Match>
        <Match when={as('tool')}>{(entry) => <ToolCall tool={entry()} />}</Match>
        <Match when={as('plan')}>
          {(entry) => (
            <section class="plan" aria-label={t('plan')}>
              <h2>{t('plan')}</h2>
              <ol>
                <For each={entry().steps}>
                  {(step) => (
                    <li class={step.status}>
                      {line(step.text)}
                      <span class="hidden-text"> {tOr(`tool_status_${step.status}`, line(step.status))}</span>
                    </li>
                  )}
                </For>
              </ol>
            </section>
          )}
        </Match>
        <Match when={as('permission', 'question')}>
          {(entry) => <AskView entry={entry()} sessionId={props.sessionId} />}
        </Match>
        <Match when={as('attachment')}>
          {(entry) => (
            <p class="attachment">
              <strong>{line(entry().name)}</strong> <span class="muted">{line(entry().detail)}</span>
            </p>
          )}
        </Match>
        <Match when={as('note')}>
          {(entry) => (
            <p class={`note ${entry().tone}`}>
              {toWords(entry().text)}
              <Show when={entry().reason}>{(reason) => <> · {line(reason().message)}</>}</Show>
            </p>
          )}
        </Match>
      </Switch>
    </div>
  );
}

function toWords(note: Note): string {
  if ('words' in note) return line(note.words);
  const values = Object.entries(note.values ?? {}).map(([name, value]) => [
    name,
    name === 'when' ? fullTime(value) : tOr(value, line(value)),
  ]);
  return t(note.key, Object.fromEntries(values));
}
