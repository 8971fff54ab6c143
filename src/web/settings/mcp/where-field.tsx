import { createUniqueId, For, type JSX } from 'solid-js';
import { actions, must } from '../../api/call.ts';
import { createLive } from '../../api/live.ts';
import { t } from '../../i18n/index.ts';
import { line } from '../../ui/text.tsx';
import { BACKEND } from './servers.ts';

/** Where a program runs: in the backend, or on a machine. */
export function WhereField(props: { value: string; onChange: (where: string) => void }): JSX.Element {
  const id = createUniqueId();
  const machines = createLive(
    async () => (await must(actions.machines.list({}))).machines,
    ({ type }) => type === 'machine.changed',
  );
  const options = () => {
    const known = (machines.data() ?? []).map(({ machineId, name }) => ({ id: machineId, name }));
    const isKnown = props.value === BACKEND || known.some(({ id }) => id === props.value);
    return isKnown ? known : [...known, { id: props.value, name: props.value }];
  };
  return (
    <div class="field">
      <label for={id}>{t('mcpWhere')}</label>
      <select id={id} onChange={(event) => props.onChange(event.currentTarget.value)}>
        <option value={BACKEND} selected={props.value === BACKEND}>
          {t('mcpInBackend')}
        </option>
        <For each={options()}>
          {(machine) => (
            <option value={machine.id} selected={props.value === machine.id}>
              {t('mcpOnMachine', { machine: line(machine.name) })}
            </option>
          )}
        </For>
      </select>
    </div>
  );
}
