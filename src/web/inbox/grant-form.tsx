import { createSignal, For, type JSX, Show } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { actions } from '../api/call.ts';
import { t } from '../i18n/index.ts';
import { announce } from '../ui/announce.ts';
import { Problem } from '../ui/problem.tsx';
import { line } from '../ui/text.tsx';
import { type ApprovalRow, decide, type InboxItem } from './inbox-state.ts';

const HOURS = [1, 8, 24, 168];

/** Approves, and lets the like run unasked for a while: held to the fields, or to a folder and what is below. */
export function GrantForm(props: { item: InboxItem; approval: ApprovalRow }): JSX.Element {
  const [hours, setHours] = createSignal(1);
  const [uses, setUses] = createSignal(10);
  const [below, setBelow] = createSignal<ReadonlySet<string>>(new Set());
  const [error, setError] = createSignal<WireError>();
  const input = props.approval.input as Record<string, unknown>;
  const paths = Object.keys(input).filter((name) => /^\/.+/.test(String(input[name])));

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (!(await decide(props.item, 'approve'))) return;
    const pins = Object.fromEntries(
      Object.keys(input).map((name) => [name, below().has(name) ? ('prefix' as const) : ('exact' as const)]),
    );
    const { artifactId } = props.approval;
    const outcome = await actions.approval.grant.create({
      artifactId,
      hours: hours(),
      uses: uses(),
      ...(below().size === 0 ? {} : { pins }),
    });
    if (outcome.status === 'error') setError(outcome.error);
    else announce(t('grantMade'));
  }

  return (
    <form class="inline-form" onSubmit={(event) => void submit(event)}>
      <div class="row">
        <label>
          <span>{t('forHours')}</span>
          <select value={hours()} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            <For each={HOURS}>{(n) => <option value={n}>{t('hours', { n })}</option>}</For>
          </select>
        </label>
        <label>
          <span>{t('atMost')}</span>
          <input
            type="number"
            min="1"
            max="10000"
            required
            value={uses()}
            onInput={(event) => setUses(event.currentTarget.valueAsNumber)}
          />
        </label>
      </div>
      <Show when={paths.length > 0}>
        <fieldset>
          <legend>{t('alsoBelow')}</legend>
          <For each={paths}>
            {(name) => (
              <label class="check">
                <input
                  type="checkbox"
                  onChange={(event) => {
                    const next = new Set(below());
                    if (event.currentTarget.checked) next.add(name);
                    else next.delete(name);
                    setBelow(next);
                  }}
                />
                <span>
                  {line(name)}: <code>{line(String(input[name]))}</code>
                </span>
              </label>
            )}
          </For>
        </fieldset>
      </Show>
      <p class="muted">{t('grantHeld')}</p>
      <p class="buttons">
        <button type="submit" class="primary">
          {t('approveAndAllow')}
        </button>
      </p>
      <Problem error={error()} />
    </form>
  );
}
