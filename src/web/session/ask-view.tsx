import { type JSX, Match, Show, Switch } from 'solid-js';
import { t } from '../i18n/index.ts';
import { type InboxItem, progress } from '../inbox/inbox-state.ts';
import { PermissionForm } from '../inbox/permission-form.tsx';
import { QuestionForm } from '../inbox/question-form.tsx';
import { Problem } from '../ui/problem.tsx';
import { line } from '../ui/text.tsx';
import type { Entry } from './entries.ts';
import { useSession } from './session-context.ts';

type Ask = Extract<Entry, { kind: 'permission' | 'question' }>;

/** What the agent asked, in its place; with the answers while it is open. */
export function AskView(props: { entry: Ask; sessionId: string }): JSX.Element {
  const session = useSession();
  const id = () => props.entry.request.requestId;
  const words = () =>
    props.entry.kind === 'permission' ? props.entry.request.title : props.entry.request.message;
  const isOpen = () => session()?.permission?.requestId === id() || session()?.question?.requestId === id();
  const outcome = () => (props.entry.kind === 'permission' ? props.entry.outcome : props.entry.answer);
  const item = (): InboxItem => ({
    itemId: id(),
    kind: props.entry.kind,
    title: words(),
    at: props.entry.at,
    sessionId: props.sessionId,
    lineage: [],
  });
  const told = () => {
    const said = outcome();
    if (said === 'allowed' || said === 'refused' || said === 'canceled') return t(said);
    return said === 'accept' ? t('answered') : t('refused');
  };
  return (
    <section
      class="ask"
      aria-label={t(props.entry.kind === 'permission' ? 'permissionAsked' : 'questionAsked')}
    >
      <p class="who">{t(props.entry.kind === 'permission' ? 'permissionAsked' : 'questionAsked')}</p>
      <h2 dir="auto">{line(words())}</h2>
      <Switch>
        <Match when={outcome() !== undefined}>
          <p class="outcome">
            {told()} <Show when={props.entry.by}>{(by) => <span class="muted">{line(by())}</span>}</Show>
          </p>
        </Match>
        <Match when={isOpen() && props.entry.kind === 'permission' && props.entry.request}>
          {(request) => <PermissionForm item={item()} permission={request()} here />}
        </Match>
        <Match when={isOpen() && props.entry.kind === 'question' && props.entry.request}>
          {(request) => <QuestionForm item={item()} question={request()} />}
        </Match>
      </Switch>
      <Problem error={progress[id()]?.error} />
    </section>
  );
}
