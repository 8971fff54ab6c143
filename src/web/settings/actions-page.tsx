import { createMemo, createSignal, For, type JSX, Show } from 'solid-js';
import { MANAGED_FAMILY } from '../../core/managed/names.ts';
import { keysOf, type PolicyDocument, resolvePolicy } from '../../core/policy.ts';
import type { ActionManifest, Surface } from '../../core/spec.ts';
import { catalogEntries } from '../api/catalog.ts';
import { lang, t } from '../i18n/index.ts';
import { useKeys } from '../ui/keys.ts';
import { Rows } from '../ui/rows.tsx';
import { line } from '../ui/text.tsx';
import { type Cell, CellDialog } from './cell-dialog.tsx';
import { DraftBar } from './draft-bar.tsx';
import { createPolicyDraft } from './policy-draft.ts';

const COLUMNS: Surface[] = ['agent', 'voice', 'cli', 'mcp'];

interface Family {
  key: string;
  actions: ActionManifest[];
}

/** Every action on every surface: what a call would do, and the rules that say so. */
export default function ActionsPage(): JSX.Element {
  const draft = createPolicyDraft();
  const [query, setQuery] = createSignal('');
  const [onlyChanged, setOnlyChanged] = createSignal(false);
  const [cell, setCell] = createSignal<Cell>();
  let search: HTMLInputElement | undefined;
  useKeys({ '/': () => search?.focus() });

  const isChanged = ({ id }: ActionManifest) => {
    const policy = draft.drafted();
    return policy !== undefined && COLUMNS.some((surface) => fromRule(policy, id, surface));
  };
  const families = createMemo(() => {
    const words = query().toLowerCase().split(/\s+/).filter(Boolean);
    const found = catalogEntries().filter((action) => {
      const text = `${action.id} ${action.title.en} ${action.title['zh-CN']}`.toLowerCase();
      return words.every((word) => text.includes(word)) && (!onlyChanged() || isChanged(action));
    });
    const groups = new Map<string, Family>();
    for (const action of found) {
      // The broadest first. Tools of MCP servers have a family of each server in that of all servers.
      const keys = familiesOf(action.id);
      for (const key of keys) if (!groups.has(key)) groups.set(key, { key, actions: [] });
      groups.get(keys.at(-1) ?? '')?.actions.push(action);
    }
    return [...groups.values()];
  });

  return (
    <div class="page">
      <header class="page-head">
        <h1>{t('actionsTitle')}</h1>
      </header>
      <p class="lead">{t('actionsLead')}</p>
      <div class="filters" role="search">
        <input
          ref={search}
          type="search"
          placeholder={t('filterActions')}
          aria-label={t('filterActions')}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <label class="check">
          <input type="checkbox" onChange={(event) => setOnlyChanged(event.currentTarget.checked)} />
          <span>{t('onlyChanged')}</span>
        </label>
      </div>
      <DraftBar draft={draft} />
      <Show when={draft.drafted()} fallback={<p class="loading">{t('loading')}</p>}>
        {(policy) => (
          <div class="table-box" tabindex="0" role="region" aria-label={t('actionsTitle')}>
            <table class="matrix">
              <thead>
                <tr>
                  <th scope="col">{t('action')}</th>
                  <For each={COLUMNS}>{(surface) => <th scope="col">{t(`surface_${surface}`)}</th>}</For>
                </tr>
              </thead>
              <Rows each={families()} by={({ key }) => key}>
                {(family) => (
                  <tbody>
                    <tr class="family">
                      <th scope="rowgroup">
                        <code>{family().key}</code>
                      </th>
                      <For each={COLUMNS}>
                        {(surface) => (
                          <td data-surface={t(`surface_${surface}`)}>
                            <FamilyCell
                              policy={policy()}
                              cell={{ key: family().key, surface }}
                              onOpen={setCell}
                            />
                          </td>
                        )}
                      </For>
                    </tr>
                    <Rows each={family().actions} by={({ id }) => id}>
                      {(action) => (
                        <tr>
                          <th scope="row">
                            {line(action().title[lang()])} <code>{action().id}</code>{' '}
                            <Show when={action().effect !== 'read'}>
                              <span class={`effect ${action().effect}`}>
                                {t(`effect_${action().effect}`)}
                              </span>
                            </Show>
                          </th>
                          <For each={COLUMNS}>
                            {(surface) => (
                              <td data-surface={t(`surface_${surface}`)}>
                                <ActionCell
                                  policy={policy()}
                                  cell={{ key: action().id, surface, action: action() }}
                                  onOpen={setCell}
                                />
                              </td>
                            )}
                          </For>
                        </tr>
                      )}
                    </Rows>
                  </tbody>
                )}
              </Rows>
            </table>
          </div>
        )}
      </Show>
      <Show when={cell()} keyed>
        {(open) => (
          <CellDialog
            cell={open}
            policy={draft.drafted()!}
            onClose={() => setCell(undefined)}
            onSet={(rule) => {
              draft.set(open.key, open.surface, rule);
              setCell(undefined);
            }}
          />
        )}
      </Show>
    </div>
  );
}

/** Families that have a row of their own. */
function familiesOf(actionId: string): string[] {
  const [family = '', server] = actionId.split('.');
  return family === MANAGED_FAMILY ? [`${family}.*`, `${family}.${server}.*`] : [`${family}.*`];
}

/** Whether a rule, and not the action's own default, gave any of the three answers. */
function fromRule(policy: PolicyDocument, actionId: string, surface: Surface): boolean {
  return keysOf(actionId).some((key) => policy.rules[key]?.[surface] !== undefined);
}

interface CellProps {
  policy: PolicyDocument;
  cell: Cell;
  onOpen: (cell: Cell) => void;
}

function ActionCell(props: CellProps): JSX.Element {
  const answer = createMemo(() => resolvePolicy(props.policy, props.cell.action!, props.cell.surface));
  const words = () => {
    const { outcome, exposure } = answer();
    return outcome === 'refused'
      ? t('outcome_refused')
      : `${t(`outcome_${outcome}`)} · ${t(`exposed_${exposure.value}`)}`;
  };
  return (
    <Show
      when={answer().supported}
      fallback={
        <span class="muted" title={t('notThere')}>
          –
        </span>
      }
    >
      <button
        type="button"
        class={`cell ${answer().outcome}`}
        classList={{ changed: fromRule(props.policy, props.cell.key, props.cell.surface) }}
        aria-label={`${props.cell.key}, ${t(`surface_${props.cell.surface}`)}: ${words()}`}
        onClick={() => props.onOpen(props.cell)}
      >
        {words()}
      </button>
    </Show>
  );
}

function FamilyCell(props: CellProps): JSX.Element {
  const rule = () => props.policy.rules[props.cell.key]?.[props.cell.surface];
  const words = () => {
    const { enabled, approval, exposure } = rule() ?? {};
    const parts = [
      enabled === undefined ? undefined : t(enabled ? 'isOn' : 'isOff'),
      approval === undefined ? undefined : t(approval ? 'outcome_asks' : 'outcome_runs'),
      exposure === undefined ? undefined : t(`exposed_${exposure}`),
    ];
    return parts.filter((part) => part !== undefined).join(' · ') || t('noRule');
  };
  return (
    <button
      type="button"
      class="cell"
      classList={{ changed: rule() !== undefined }}
      aria-label={`${props.cell.key}, ${t(`surface_${props.cell.surface}`)}: ${words()}`}
      onClick={() => props.onOpen(props.cell)}
    >
      {words()}
    </button>
  );
}
