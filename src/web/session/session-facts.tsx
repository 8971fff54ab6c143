import { For, type JSX, Show } from 'solid-js';
import { actions, must } from '../api/call.ts';
import { createLive } from '../api/live.ts';
import { lang, t } from '../i18n/index.ts';
import { createMachineNames } from '../sessions/machine-names.ts';
import { StatusMark } from '../sessions/status-mark.tsx';
import { A } from '../ui/router.tsx';
import { line } from '../ui/text.tsx';
import type { SessionInFull } from './session-context.ts';

/** Where it works, what it used, what it started; folded, since the transcript matters more. */
export function SessionFacts(props: { session: SessionInFull }): JSX.Element {
  const nameOf = createMachineNames();
  const runs = createLive(
    async () => (await must(actions.execution.run.list({ sessionId: props.session.sessionId }))).runs,
    (news) => news.type === 'run.changed' && news.sessionId === props.session.sessionId,
  );
  const number = (n: number) => n.toLocaleString(lang());
  const usage = () => {
    const { totalTokens, contextUsed, contextSize, cost } = props.session.usage ?? {};
    return [
      totalTokens === undefined ? undefined : t('tokens', { n: number(totalTokens) }),
      contextUsed === undefined || contextSize === undefined
        ? undefined
        : t('contextUsed', { used: number(contextUsed), size: number(contextSize) }),
      cost === undefined ? undefined : `${cost.amount.toFixed(4)} ${cost.currency}`,
    ].filter((part) => part !== undefined);
  };
  return (
    <details class="facts">
      <summary>
        {line(props.session.agentId)} · {line(nameOf(props.session.machineId))} ·{' '}
        <bdi>{line(props.session.directory)}</bdi>
      </summary>
      <dl>
        <Show when={props.session.worktree}>
          {(worktree) => (
            <Fact name={t('worktree')}>
              {line(worktree().branch)} ({line(worktree().repository)})
            </Fact>
          )}
        </Show>
        <Show when={props.session.forkedFrom}>
          {(from) => (
            <Fact name={t('forkedFrom')}>
              <A href={`/sessions/${from().sessionId}`}>{from().sessionId}</A>
            </Fact>
          )}
        </Show>
        <Show when={usage().length > 0}>
          <Fact name={t('usage')}>{usage().join(' · ')}</Fact>
        </Show>
        <Show when={props.session.children.length > 0}>
          <Fact name={t('children')}>
            <For each={props.session.children}>
              {(child) => (
                <div>
                  <StatusMark session={child} />{' '}
                  <A href={`/sessions/${child.sessionId}`}>{line(child.title ?? child.sessionId)}</A>
                </div>
              )}
            </For>
          </Fact>
        </Show>
        <Show when={(runs.data() ?? []).length > 0}>
          <Fact name={t('runsOfSession')}>
            <For each={runs.data()}>
              {(run) => (
                <div>
                  {t(`intent_${run.intent}`)} · {t(`run_${run.status}`)}
                  <Show when={run.runSessionId}>
                    {(id) => (
                      <>
                        {' · '}
                        <A href={`/sessions/${id()}`}>{t('openSession')}</A>
                      </>
                    )}
                  </Show>
                </div>
              )}
            </For>
          </Fact>
        </Show>
      </dl>
    </details>
  );
}

function Fact(props: { name: string; children: JSX.Element }): JSX.Element {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}
