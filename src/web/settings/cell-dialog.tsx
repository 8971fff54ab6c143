import { createSignal, For, type JSX, Show } from 'solid-js';
import { type PolicyDocument, resolvePolicy, type SurfaceRule } from '../../core/policy.ts';
import type { ActionManifest, Surface } from '../../core/spec.ts';
import { t, type TextKey, tOr } from '../i18n/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { line } from '../ui/text.tsx';

export interface Cell {
  /** Rule: an action's id, or a family. */
  key: string;
  surface: Surface;
  /** Absent for a family. */
  action?: ActionManifest;
}

type Choice = [label: TextKey, value: boolean | string | undefined];

const CHOICES: { field: keyof SurfaceRule; title: TextKey; options: Choice[] }[] = [
  {
    field: 'enabled',
    title: 'enablement',
    options: [
      ['useDefault', undefined],
      ['isOn', true],
      ['isOff', false],
    ],
  },
  {
    field: 'approval',
    title: 'kind_approval',
    options: [
      ['useDefault', undefined],
      ['asksFirst', true],
      ['runsUnasked', false],
    ],
  },
  {
    field: 'exposure',
    title: 'exposure',
    options: [
      ['useDefault', undefined],
      ['discoverableOnly', 'discoverable'],
      ['directTool', 'direct'],
    ],
  },
];

/** Where an answer comes from: an action's own default, what is fixed, or a rule by its name. */
const because = (from: string): string => tOr(`because_${from}`, t('because', { rule: from }));

/** What a rule says of one action, or family, on one surface: three answers that do not depend on one another. */
export function CellDialog(props: {
  cell: Cell;
  policy: PolicyDocument;
  onSet: (rule: SurfaceRule) => void;
  onClose: () => void;
}): JSX.Element {
  const [rule, setRule] = createSignal<SurfaceRule>(
    props.policy.rules[props.cell.key]?.[props.cell.surface] ?? {},
  );
  const answer = () => {
    const { action, surface, key } = props.cell;
    if (action === undefined) return undefined;
    const { [key]: own, ...others } = props.policy.rules;
    const rules = { ...others, [key]: { ...own, [surface]: rule() } };
    return resolvePolicy({ ...props.policy, rules }, action, surface);
  };
  const floorOf = (field: keyof SurfaceRule) => answer()?.[field].from === 'floor';

  function choose(field: keyof SurfaceRule, value: Choice[1]): void {
    const { [field]: _, ...others } = rule();
    setRule(value === undefined ? others : { ...others, [field]: value });
  }

  return (
    <Dialog title={`${props.cell.key} · ${t(`surface_${props.cell.surface}`)}`} onClose={props.onClose}>
      <Show when={props.cell.action}>
        {(action) => (
          <p class="muted">
            {line(action().summary)} <span class="effect">{t(`effect_${action().effect}`)}</span>
          </p>
        )}
      </Show>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          props.onSet(rule());
        }}
      >
        <For each={CHOICES}>
          {({ field, title, options }) => (
            <fieldset disabled={floorOf(field)}>
              <legend>{t(title)}</legend>
              <div class="segments">
                <For each={options}>
                  {([label, value]) => (
                    <label>
                      <input
                        type="radio"
                        name={field}
                        checked={rule()[field] === value}
                        onChange={() => choose(field, value)}
                      />
                      <span>{t(label)}</span>
                    </label>
                  )}
                </For>
              </div>
              <Show when={floorOf(field)}>
                <p class="muted">{t('floor')}</p>
              </Show>
            </fieldset>
          )}
        </For>
        <Show when={props.cell.action?.unavailable}>
          {(unavailable) => <p class="preview">{line(unavailable().remedy)}</p>}
        </Show>
        <Show when={answer()}>
          {(found) => (
            <p role="status">
              <span class={`cell-word ${found().outcome}`}>{t(`outcome_${found().outcome}`)}</span>{' '}
              <span class="muted">
                {because(found().enabled.value ? found().approval.from : found().enabled.from)}
              </span>
            </p>
          )}
        </Show>
        <p class="buttons">
          <button type="submit" class="primary">
            {t('toDraft')}
          </button>
          <button type="button" class="quiet" onClick={() => props.onClose()}>
            {t('cancel')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
