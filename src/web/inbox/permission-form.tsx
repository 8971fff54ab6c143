import { For, type JSX, Show } from 'solid-js';
import { actions, must } from '../api/call.ts';
import { t, tOr } from '../i18n/index.ts';
import { A } from '../ui/router.tsx';
import { line } from '../ui/text.tsx';
import { answer, type InboxItem, progress } from './inbox-state.ts';
import { StepPreview } from './step-preview.tsx';

/** An agent's request for permission, with exactly the answers that the agent offers. */
export function PermissionForm(props: {
  item: InboxItem;
  permission: NonNullable<InboxItem['permission']>;
  /** It is shown in its session already. */
  here?: boolean;
}): JSX.Element {
  const isBusy = () => progress[props.item.itemId]?.stage === 'sending';
  const isYes = (kind: string) => kind.startsWith('allow');
  // Where names are the same, an answer by key or by voice must still mean one of them.
  const first = (yes: boolean) => props.permission.options.find(({ kind }) => isYes(kind) === yes)?.optionId;
  const respond = (optionId: string, name: string) =>
    answer(props.item, name, () =>
      must(
        actions.session.permission.respond({
          sessionId: props.item.sessionId!,
          requestId: props.permission.requestId,
          optionId,
        }),
      ),
    );
  return (
    <>
      <Show when={props.permission.kind}>
        {(kind) => <p class="who">{t('stepKind', { kind: tOr(`tool_${kind()}`, line(kind())) })}</p>}
      </Show>
      <Show when={props.here !== true && props.permission.toolCallId}>
        {(toolCallId) => <StepPreview sessionId={props.item.sessionId!} toolCallId={toolCallId()} />}
      </Show>
      <p class="buttons">
        <For each={props.permission.options}>
          {(option) => (
            <button
              type="button"
              classList={{ primary: option.kind === 'allow_once' }}
              data-do={
                option.optionId === first(true)
                  ? 'approve'
                  : option.optionId === first(false)
                    ? 'deny'
                    : undefined
              }
              title={t(`option_${option.kind}`)}
              disabled={isBusy()}
              onClick={() => void respond(option.optionId, option.name)}
            >
              {line(option.name)}
            </button>
          )}
        </For>
        <Show when={props.here !== true}>
          <A class="button quiet" data-do="open" href={`/sessions/${props.item.sessionId}`}>
            {t('openSession')}
          </A>
        </Show>
      </p>
    </>
  );
}
