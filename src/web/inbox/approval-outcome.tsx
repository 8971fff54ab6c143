import { type JSX, Show } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { t } from '../i18n/index.ts';
import { Fields } from '../ui/fields.tsx';
import { Problem } from '../ui/problem.tsx';
import { line, Stranger } from '../ui/text.tsx';
import type { ApprovalRow } from './inbox-state.ts';

const GOOD = ['succeeded', 'approved', 'executing'];

/** What became of a request: decided, by whom, and what its action came to. */
export function ApprovalOutcome(props: { approval: ApprovalRow }): JSX.Element {
  const result = () =>
    props.approval.result as
      | { status: string; output?: Record<string, unknown>; error?: WireError }
      | undefined;
  return (
    <div class="outcome" classList={{ ok: GOOD.includes(props.approval.status) }} role="status">
      <p>
        <strong>{t(`approval_${props.approval.status}`)}</strong>
        <Show when={props.approval.decidedBy}>{(by) => <> {t('decidedBy', { who: line(by()) })}</>}</Show>
      </p>
      <Show when={props.approval.decisionReason}>{(reason) => <Stranger text={reason()} />}</Show>
      <Show when={result()?.output}>
        {(output) => (
          <details>
            <summary>{t('result')}</summary>
            <Fields values={output()} actionId={props.approval.actionId} of="output" />
          </details>
        )}
      </Show>
      <Problem error={result()?.error} />
    </div>
  );
}
