import { type JSX, Show } from 'solid-js';
import { createAsked } from '../api/asked.ts';
import { actions, idOf } from '../api/call.ts';
import { t } from '../i18n/index.ts';
import type { ApprovalRow } from './inbox-state.ts';

/** What a change of the policy would have done to the calls of late. */
export function PolicyChange(props: { approval: ApprovalRow }): JSX.Element {
  const rules = () =>
    props.approval.actionId === idOf(actions.policy.set)
      ? (props.approval.input.rules as Parameters<typeof actions.policy.preview>[0]['rules'])
      : undefined;
  const preview = createAsked(rules, (asked) => actions.policy.preview({ rules: asked }));
  const counts = () => {
    const outcome = preview.data();
    return outcome?.status === 'ok' ? outcome.output : undefined;
  };
  return (
    <Show when={counts()}>
      {(found) => (
        <p class="preview">
          {t('replay', {
            calls: found().calls,
            refused: found().newlyRefused.count,
            asks: found().newlyAsking.count,
            runs: found().newlyUnattended.count,
          })}
        </p>
      )}
    </Show>
  );
}
