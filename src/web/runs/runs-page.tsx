import { createSignal, For, type JSX, Show } from 'solid-js';
import { isRunOver, RUN_STATUSES, type RunStatus } from '../../core/run.ts';
import type { WireError } from '../../core/errors.ts';
import { createAsked } from '../api/asked.ts';
import { actions, must, type OutputOf } from '../api/call.ts';
import { createLive } from '../api/live.ts';
import { t } from '../i18n/index.ts';
import { Fields } from '../ui/fields.tsx';
import { Problem } from '../ui/problem.tsx';
import { A } from '../ui/router.tsx';
import { Rows } from '../ui/rows.tsx';
import { line, Stranger } from '../ui/text.tsx';
import { ago, fullTime } from '../ui/time.ts';

type RunRow = OutputOf<typeof actions.execution.run.list>['runs'][number];

const PAGE = 100;

/** Reviews, plans, delegated work and talks of all sessions. */
export default function RunsPage(): JSX.Element {
  const [status, setStatus] = createSignal<RunStatus>();
  const runs = createLive(
    () =>
      must(
        actions.execution.run.list({ limit: PAGE, ...(status() === undefined ? {} : { status: status() }) }),
      ),
    ({ type }) => type === 'run.changed',
  );
  return (
    <div class="page narrow">
      <header class="page-head">
        <h1>{t('runs')}</h1>
        <select
          aria-label={t('status')}
          onChange={(event) => {
            setStatus((event.currentTarget.value || undefined) as RunStatus | undefined);
            void runs.refresh();
          }}
        >
          <option value="">{t('anyStatus')}</option>
          <For each={RUN_STATUSES}>{(name) => <option value={name}>{t(`run_${name}`)}</option>}</For>
        </select>
      </header>
      <Problem error={runs.error()} />
      <Show when={runs.data()} fallback={<p class="loading">{t('loading')}</p>}>
        {(found) => (
          <Show
            when={found().runs.length > 0}
            fallback={
              <div class="nothing">
                <p class="big">{t('noRuns')}</p>
                <p>{t('noRunsHow')}</p>
              </div>
            }
          >
            <Rows each={found().runs} by={({ runId }) => runId}>
              {(run) => <RunCard run={run()} />}
            </Rows>
          </Show>
        )}
      </Show>
    </div>
  );
}

function RunCard(props: { run: RunRow }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  const [error, setError] = createSignal<WireError>();
  const whole = createAsked(
    () => (open() ? `${props.run.runId} ${props.run.status}` : undefined),
    () => actions.execution.run.get({ runId: props.run.runId }),
  );
  const outcome = () => {
    const found = whole.data();
    return found?.status === 'ok' ? found.output : undefined;
  };
  async function stop(): Promise<void> {
    const answer = await actions.execution.run.stop({ runId: props.run.runId });
    setError(answer.status === 'error' ? answer.error : undefined);
  }
  return (
    <article class="card" aria-label={`${t(`intent_${props.run.intent}`)} ${props.run.runId}`}>
      <header>
        <span class="kind">{t(`intent_${props.run.intent}`)}</span>
        <span class={`run-status ${props.run.status}`}>{t(`run_${props.run.status}`)}</span>
        <time datetime={props.run.createdAt} title={fullTime(props.run.createdAt)}>
          {ago(props.run.createdAt)}
        </time>
      </header>
      <Stranger text={props.run.instructions} />
      <p class="who">
        {line(props.run.backendTarget.agentId)} ·{' '}
        <A href={`/sessions/${props.run.sessionId}`}>{t('ofSession')}</A>
        <Show when={props.run.runSessionId}>
          {(id) => (
            <>
              {' · '}
              <A href={`/sessions/${id()}`}>{t('ownSession')}</A>
            </>
          )}
        </Show>
      </p>
      <Show when={props.run.reason}>{(reason) => <p class="problem">{line(reason().message)}</p>}</Show>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{t('result')}</summary>
        <Show when={outcome()} fallback={<p class="muted">{t('loading')}</p>}>
          {(run) => (
            <>
              <Fields values={run().result ?? {}} />
              <Show when={run().rawText}>{(text) => <Stranger text={text()} />}</Show>
              <Show when={run().result === undefined && run().rawText === undefined}>
                <p class="muted">{t('noResult')}</p>
              </Show>
            </>
          )}
        </Show>
      </details>
      <Show when={!isRunOver(props.run.status)}>
        <p class="buttons">
          <button type="button" onClick={() => void stop()}>
            {t('stopRun')}
          </button>
        </p>
      </Show>
      <Problem error={error()} />
    </article>
  );
}
