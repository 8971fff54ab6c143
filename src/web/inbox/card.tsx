import { type JSX, Match, Show, Switch } from 'solid-js';
import { t } from '../i18n/index.ts';
import { Problem } from '../ui/problem.tsx';
import { A } from '../ui/router.tsx';
import { line, Stranger } from '../ui/text.tsx';
import { ago, fullTime } from '../ui/time.ts';
import { ApprovalCard } from './approval-card.tsx';
import { finished, type InboxItem, progress } from './inbox-state.ts';
import { PermissionForm } from './permission-form.tsx';
import { QuestionForm } from './question-form.tsx';

/** One thing that waits. */
export function Card(props: {
  item: InboxItem;
  selected: boolean;
  onSelect: () => void;
  onFocus: () => void;
}): JSX.Element {
  const isOver = () => props.item.itemId in finished;
  const state = () => progress[props.item.itemId];
  const title = () => (props.item.kind === 'approval' ? undefined : line(props.item.title));
  return (
    <article
      class="card"
      classList={{ over: isOver(), [props.item.kind]: true }}
      data-item={props.item.itemId}
      tabindex="-1"
      aria-label={`${t(`kind_${props.item.kind}`)}: ${line(props.item.title)}`}
      onFocusIn={() => props.onFocus()}
    >
      <header>
        <Show when={props.item.kind === 'approval' && !isOver()}>
          <input
            type="checkbox"
            data-do="select"
            checked={props.selected}
            aria-label={t('select')}
            onChange={() => props.onSelect()}
          />
        </Show>
        <span class={`kind ${props.item.kind}`}>{t(`kind_${props.item.kind}`)}</span>
        <time datetime={props.item.at} title={fullTime(props.item.at)}>
          {ago(props.item.at)}
        </time>
      </header>
      <Show when={title()}>
        <h3 dir="auto">{title()}</h3>
      </Show>
      <Switch>
        <Match when={props.item.approval}>
          {(approval) => <ApprovalCard item={props.item} approval={approval()} over={isOver()} />}
        </Match>
        <Match when={isOver()}>
          <p class="outcome ok" role="status">
            {t('answered')}: {line(state()?.answer ?? '')}
          </p>
        </Match>
        <Match when={props.item.permission}>
          {(permission) => <PermissionForm item={props.item} permission={permission()} />}
        </Match>
        <Match when={props.item.question}>
          {(question) => <QuestionForm item={props.item} question={question()} />}
        </Match>
        <Match when={true}>
          <Show when={props.item.reason}>
            {(reason) => (
              <div class="reason">
                <Show when={!props.item.title.includes(reason().message)}>
                  <Stranger text={reason().message} />
                </Show>
                <Show when={reason().hint}>{(hint) => <p class="muted">{line(hint())}</p>}</Show>
              </div>
            )}
          </Show>
          <Show when={props.item.sessionId}>
            {(id) => (
              <p class="buttons">
                <A class="button" data-do="open" href={`/sessions/${id()}`}>
                  {t('openSession')}
                </A>
              </p>
            )}
          </Show>
        </Match>
      </Switch>
      <Problem error={state()?.error} />
    </article>
  );
}
