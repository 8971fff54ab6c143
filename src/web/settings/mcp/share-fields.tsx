import { type JSX, Show } from 'solid-js';
import { actions, must } from '../../api/call.ts';
import { createLive } from '../../api/live.ts';
import { t } from '../../i18n/index.ts';
import { Choices, Segments } from './form-parts.tsx';
import type { FormValues } from './form-values.ts';

/** Sessions that are offered, the newest. */
const OFFERED = 20;

interface ShareProps {
  values: Pick<FormValues, 'someSessions' | 'agents' | 'sessionIds'>;
  onChange: (change: Partial<FormValues>) => void;
}

/** Which sessions get a server's tools: all, or those of some agents and some by themselves. */
export function ShareFields(props: ShareProps): JSX.Element {
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
        <SomeSessions {...props} />
      </Show>
    </>
  );
}

function SomeSessions(props: ShareProps): JSX.Element {
  const never = () => false;
  const agents = createLive(async () => (await must(actions.agents.backends.list({}))).agents, never);
  const sessions = createLive(
    async () => (await must(actions.session.list({ limit: OFFERED }))).sessions,
    never,
  );
  return (
    <div class="inline-form">
      <Choices
        label={t('mcpOfAgents')}
        options={(agents.data() ?? []).map(({ agentId, name }) => ({ value: agentId, label: name }))}
        chosen={props.values.agents}
        onChange={(chosen) => props.onChange({ agents: chosen })}
      />
      <Choices
        label={t('sessions')}
        options={(sessions.data() ?? []).map(({ sessionId, title }) => ({
          value: sessionId,
          label: title ?? sessionId,
        }))}
        chosen={props.values.sessionIds}
        onChange={(chosen) => props.onChange({ sessionIds: chosen })}
      />
    </div>
  );
}
