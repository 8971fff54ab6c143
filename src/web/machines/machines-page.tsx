import { For, type JSX, Show } from 'solid-js';
import { createAsked } from '../api/asked.ts';
import { actions, must } from '../api/call.ts';
import { createLive } from '../api/live.ts';
import { t } from '../i18n/index.ts';
import { Problem } from '../ui/problem.tsx';
import { Rows } from '../ui/rows.tsx';
import { line } from '../ui/text.tsx';
import { ago, fullTime } from '../ui/time.ts';

/** The machines, and what their agents need to be ready. */
export default function MachinesPage(): JSX.Element {
  const machines = createLive(
    async () => (await must(actions.machines.list({}))).machines,
    ({ type }) => type === 'machine.changed',
  );
  return (
    <div class="page narrow">
      <header class="page-head">
        <h1>{t('machines')}</h1>
      </header>
      <Problem error={machines.error()} />
      <Show when={machines.data()} fallback={<p class="loading">{t('loading')}</p>}>
        {(list) => (
          <Show when={list().length > 0} fallback={<p class="nothing">{t('noMachines')}</p>}>
            <Rows each={list()} by={({ machineId }) => machineId}>
              {(machine) => (
                <article class="card" aria-label={line(machine().name)}>
                  <header>
                    <h2>{line(machine().name)}</h2>
                    <span class={`status ${machine().online ? 'online' : 'offline'}`}>
                      {t(machine().online ? 'online' : 'isOffline')}
                    </span>
                    <time datetime={machine().lastSeenAt} title={fullTime(machine().lastSeenAt)}>
                      {t('lastSeen', { when: ago(machine().lastSeenAt) })}
                    </time>
                  </header>
                  <p class="who">
                    {line(machine().platform)} ·{' '}
                    {t('daemonVersion', { version: line(machine().daemonVersion) })} ·{' '}
                    <code>{machine().machineId}</code>
                  </p>
                  <Agents machineId={machine().machineId} online={machine().online} />
                </article>
              )}
            </Rows>
          </Show>
        )}
      </Show>
    </div>
  );
}

function Agents(props: { machineId: string; online: boolean }): JSX.Element {
  // Asked again when the machine comes back.
  const answer = createAsked(
    () => `${props.machineId} ${props.online}`,
    () => actions.agents.backends.list({ machineId: props.machineId }),
  );
  const error = () => {
    const found = answer.data();
    return found?.status === 'error' ? found.error : undefined;
  };
  const agents = () => {
    const found = answer.data();
    return found?.status === 'ok' ? found.output.agents : [];
  };
  return (
    <>
      <Problem error={error()} retry={() => answer.refresh()} />
      <Show
        when={agents().length > 0}
        fallback={
          <Show when={answer.loading()}>
            <p class="muted">{t('loading')}</p>
          </Show>
        }
      >
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">{t('agent')}</th>
              <th scope="col">{t('status')}</th>
              <th scope="col">{t('version')}</th>
            </tr>
          </thead>
          <tbody>
            <For each={agents()}>
              {(agent) => (
                <tr>
                  <th scope="row">
                    {line(agent.name)} <code>{line(agent.agentId)}</code>
                  </th>
                  <td>
                    <span class={`agent-state ${agent.state}`}>{t(`agent_${agent.state}`)}</span>
                    <Show when={agent.state !== 'ready' && (agent.setup ?? agent.install)}>
                      {(command) => <pre class="command">{line(command())}</pre>}
                    </Show>
                    <Show when={agent.state === 'needs_setup' && agent.reason}>
                      {(reason) => <p class="muted">{line(reason())}</p>}
                    </Show>
                  </td>
                  <td>{line(agent.version ?? '–')}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </Show>
    </>
  );
}
