import { For, type JSX, Show } from 'solid-js';
import { t } from '../../i18n/index.ts';
import { line, Stranger } from '../../ui/text.tsx';
import { ago, fullTime } from '../../ui/time.ts';
import { ServerButtons } from './server-buttons.tsx';
import { BACKEND, type Server } from './servers.ts';
import { ServerTools } from './server-tools.tsx';
import { ToolReview } from './tool-review.tsx';

/** The mark of each status, by the look that it shares with those of sessions. */
const MARKS: Record<Server['status'], string> = {
  starting: 'starting',
  ready: 'ready',
  degraded: 'stalled',
  sign_in_needed: 'waiting',
  failed: 'failed',
  disabled: 'off',
};

/** Those whose reason is an alarm; of the others it is a remark. */
const CARDS: Partial<Record<Server['status'], string>> = {
  degraded: 'stalled',
  sign_in_needed: 'stalled',
  failed: 'failed',
  disabled: 'over',
};

export function ServerCard(props: {
  server: Server;
  machineName: (machineId: string) => string;
  onEdit: () => void;
  onChanged: () => void;
}): JSX.Element {
  const config = () => props.server.config;
  const way = () =>
    config().url ??
    [config().command ?? '', ...(config().args ?? [])].filter((part) => part !== '').join(' ');
  const place = () => {
    const machine = line(props.machineName(props.server.where));
    if (props.server.source === 'file') return t('mcpOfFile', { machine });
    return props.server.where === BACKEND ? t('mcpInBackend') : t('mcpOnMachine', { machine });
  };
  return (
    <article
      class={`card server ${CARDS[props.server.status] ?? ''}`}
      tabindex="-1"
      aria-label={line(props.server.name)}
    >
      <header>
        <h2>{line(props.server.name)}</h2>
        <span class={`status ${MARKS[props.server.status]}`}>{t(`mcp_status_${props.server.status}`)}</span>
        <time datetime={props.server.since} title={fullTime(props.server.since)}>
          {ago(props.server.since)}
        </time>
      </header>
      <p class="way">
        <code dir="auto">{line(way())}</code>
      </p>
      <p class="who">
        {place()}
        <Show when={props.server.serverInfo}>
          {(info) => (
            <>
              {' '}
              · {line(String(info().name))} {line(String(info().version))}
            </>
          )}
        </Show>
        <Show when={props.server.protocolVersion}>{(version) => <> · MCP {line(version())}</>}</Show>
        <Show when={config().trusted}> · {t('mcpIsTrusted')}</Show>
        <Show when={config().sessions}> · {t('mcpSomeSessions')}</Show>
      </p>
      <Show when={props.server.reason}>
        {(reason) => (
          <p class="reason">
            <Stranger text={reason()} />
          </p>
        )}
      </Show>
      <Show when={props.server.nextTryAt}>
        {(at) => <p class="muted">{t('mcpNextTry', { when: ago(at()) })}</p>}
      </Show>
      <Show when={props.server.stderrTail}>
        {(tail) => (
          <details open={props.server.status === 'failed'}>
            <summary>{t('mcpStderr')}</summary>
            <pre class="tail" tabindex="0" aria-label={t('mcpStderr')}>
              <Stranger text={tail()} />
            </pre>
          </details>
        )}
      </Show>
      <Show when={props.server.warnings.length > 0}>
        <details>
          <summary>{t('mcpWarnings', { n: props.server.warnings.length })}</summary>
          <ul>
            <For each={props.server.warnings}>
              {(warning) => (
                <li>
                  <Stranger text={warning} />
                </li>
              )}
            </For>
          </ul>
        </details>
      </Show>
      <Show when={props.server.toolCounts.held_back > 0}>
        <ToolReview server={props.server.name} onAccepted={() => props.onChanged()} />
      </Show>
      <ServerTools server={props.server} />
      <ServerButtons
        server={props.server}
        onEdit={() => props.onEdit()}
        onChanged={() => props.onChanged()}
      />
    </article>
  );
}
