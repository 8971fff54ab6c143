import { createResource, type JSX, Show } from 'solid-js';
import { actions } from '../../api/call.ts';
import { t } from '../../i18n/index.ts';
import { Choices, Segments } from './form-parts.tsx';
import type { FormValues } from './form-values.ts';

/** Sessions that are offered, the newest. */
const OFFERED = 20;

/** Which sessions get a server's tools: all, or those of some agents and some by themselves. */
export function ShareFields(props: {
  values: Pick<FormValues, 'someSessions' | 'agents' | 'sessionIds'>;
  onChange: (change: Partial<FormValues>) => void;
}): JSX.Element {
  const wanted = () => (props.values.someSessions ? true : undefined);
  const [agents] = createResource(wanted, async () => {
    const outcome = await actions.agents.backends.list({});
    const known = outcome.status === 'ok' ? outcome.output.agents : [];
    return known.map(({ agentId, name }) => ({ value: agentId, label: name }));
  });
  const [sessions] = createResource(wanted, async () => {
    const outcome = await actions.session.list({ limit: OFFERED });
    const known = outcome.status === 'ok' ? outcome.output.sessions : [];
    return known.map(({ sessionId, title }) => ({ value: sessionId, label: title ?? sessionId }));
  });
  return (
    <>
      <Segments
        label={t('mcpSessions')}
        value={props.values.someSessions ? 'some' : 'all'}
        options={[
          ['all', t('mcpAllSessions')],
          ['some', t('mcpOnlySome')],
        ]}
        onChange={(value) => props.onChange({ someSessions: value === 'some' })}
      />
      <Show when={props.values.someSessions}>
        <div class="inline-form">
          <Choices
            label={t('mcpOfAgents')}
            options={agents.latest ?? []}
            chosen={props.values.agents}
            onChange={(chosen) => props.onChange({ agents: chosen })}
          />
          <Choices
            label={t('sessions')}
            options={sessions.latest ?? []}
            chosen={props.values.sessionIds}
            onChange={(chosen) => props.onChange({ sessionIds: chosen })}
          />
        </div>
      </Show>
    </>
  );
}
