import { createSignal, For, type JSX } from 'solid-js';
import { actions, must } from '../api/call.ts';
import { t } from '../i18n/index.ts';
import { answer, type InboxItem, progress } from './inbox-state.ts';
import { QuestionInput, type QuestionValue } from './question-input.tsx';

/** A question of an agent, with the form that it asks to have filled in. */
export function QuestionForm(props: {
  item: InboxItem;
  question: NonNullable<InboxItem['question']>;
}): JSX.Element {
  const [values, setValues] = createSignal<Record<string, QuestionValue>>({});
  const isBusy = () => progress[props.item.itemId]?.stage === 'sending';
  const send = (words: string, content?: Record<string, QuestionValue>) =>
    answer(props.item, words, () =>
      must(
        actions.session.user_action.answer({
          sessionId: props.item.sessionId!,
          requestId: props.question.requestId,
          answer: content === undefined ? 'decline' : 'accept',
          ...(content === undefined ? {} : { content }),
        }),
      ),
    );
  return (
    <form
      class="inline-form plain"
      onSubmit={(event) => {
        event.preventDefault();
        const told = Object.values(values()).map(String).join(', ');
        void send(told === '' ? t('yes') : told, values());
      }}
    >
      <For each={props.question.fields}>
        {(field) => (
          <QuestionInput
            field={field}
            onChange={(value) => {
              const { [field.name]: _, ...rest } = values();
              setValues(value === undefined ? rest : { ...rest, [field.name]: value });
            }}
          />
        )}
      </For>
      <p class="buttons">
        <button type="submit" class="primary" data-do="approve" disabled={isBusy()}>
          {props.question.fields.length === 0 ? t('yes') : t('sendAnswer')}
        </button>
        <button type="button" data-do="deny" disabled={isBusy()} onClick={() => void send(t('no'))}>
          {props.question.fields.length === 0 ? t('no') : t('decline')}
        </button>
      </p>
    </form>
  );
}
