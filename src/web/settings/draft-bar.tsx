import { createSignal, For, type JSX, Show } from 'solid-js';
import { t, tOr } from '../i18n/index.ts';
import { announce } from '../ui/announce.ts';
import { Problem } from '../ui/problem.tsx';
import { line } from '../ui/text.tsx';
import { fullTime } from '../ui/time.ts';
import type { PolicyDraft, Replay } from './policy-draft.ts';

/** What would change, what it would have done to the calls of late, and the way to save it or not. */
export function DraftBar(props: { draft: PolicyDraft }): JSX.Element {
  const [confirmed, setConfirmed] = createSignal(false);
  const unattended = () => props.draft.replay()?.newlyUnattended.count ?? 0;
  const word = (value: unknown) => {
    const name = JSON.stringify(value) as string | undefined;
    return name === undefined ? t('useDefault') : tOr(`value_${name.replaceAll('"', '')}`, line(name));
  };

  async function save(): Promise<void> {
    if (await props.draft.save(confirmed())) announce(t('saved'));
    setConfirmed(false);
  }

  return (
    <>
      <Show when={props.draft.canUndo()}>
        <div class="draft-bar" role="status">
          <span>{t('saved')}</span>
          <button type="button" onClick={() => void props.draft.undo()}>
            {t('undo')}
          </button>
        </div>
      </Show>
      <Problem error={props.draft.error()} />
      <Show when={props.draft.changes().length > 0}>
        <section class="draft-bar" aria-label={t('draft')}>
          <h2>{t('draftChanges', { n: props.draft.changes().length })}</h2>
          <ul>
            <For each={props.draft.changes()}>
              {(change) => (
                <li>
                  <code>{line(change.rule ?? '')}</code>{' '}
                  {tOr(`surface_${change.surface}`, change.surface ?? '')} ·{' '}
                  {tOr(`rule_${change.field}`, change.field)}: {word(change.before)} →{' '}
                  <strong>{word(change.after)}</strong>
                </li>
              )}
            </For>
          </ul>
          <Show when={props.draft.replay()}>{(replay) => <ReplayView replay={replay()} />}</Show>
          <Show when={unattended() > 0}>
            <label class="check">
              <input
                type="checkbox"
                checked={confirmed()}
                onChange={(event) => setConfirmed(event.currentTarget.checked)}
              />
              <span>{t('confirmUnattended', { n: unattended() })}</span>
            </label>
          </Show>
          <p class="buttons">
            <button
              type="button"
              class="primary"
              disabled={unattended() > 0 && !confirmed()}
              onClick={() => void save()}
            >
              {t('save')}
            </button>
            <button type="button" class="quiet" onClick={() => props.draft.discard()}>
              {t('discard')}
            </button>
          </p>
        </section>
      </Show>
    </>
  );
}

function ReplayView(props: { replay: Replay }): JSX.Element {
  const examples = () =>
    [props.replay.newlyUnattended, props.replay.newlyRefused, props.replay.newlyAsking].flatMap(
      (part) => part.examples,
    );
  return (
    <div class="preview">
      <p>
        {t('replay', {
          calls: props.replay.calls,
          refused: props.replay.newlyRefused.count,
          asks: props.replay.newlyAsking.count,
          runs: props.replay.newlyUnattended.count,
        })}
      </p>
      <Show when={examples().length > 0}>
        <details>
          <summary>{t('examples')}</summary>
          <ul>
            <For each={examples()}>
              {(call) => (
                <li>
                  {fullTime(call.at)} · <code>{line(call.actionId)}</code> · {line(call.client)}
                </li>
              )}
            </For>
          </ul>
        </details>
      </Show>
    </div>
  );
}
