import { createSignal, For, type JSX, Show } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import type { PermissionMode } from '../../core/session.ts';
import { createAsked } from '../api/asked.ts';
import { actions, type Outcome } from '../api/call.ts';
import { t, tOr } from '../i18n/index.ts';
import { StatusMark } from '../sessions/status-mark.tsx';
import { Problem } from '../ui/problem.tsx';
import { A, navigate } from '../ui/router.tsx';
import { line } from '../ui/text.tsx';
import type { SessionInFull } from './session-context.ts';
import { SessionFacts } from './session-facts.tsx';
import { TitleForm } from './title-form.tsx';

/** Title, state and settings of a session, and what can be done with it. */
export function SessionHead(props: { session: SessionInFull }): JSX.Element {
  const [editing, setEditing] = createSignal(false);
  const [error, setError] = createSignal<WireError>();
  const id = () => ({ sessionId: props.session.sessionId });
  // Asked when somebody is about to choose: both are the agent's own, and the list may be long.
  const [wanted, setWanted] = createSignal<string>();
  const offers = createAsked(wanted, async () => {
    const [modes, models] = await Promise.all([
      actions.agents.session_modes.list(id()),
      actions.agents.models.list(id()),
    ]);
    return {
      modes: modes.status === 'ok' ? modes.output.modes : [],
      models: models.status === 'ok' ? models.output.models : [],
    };
  });
  const ask = () => setWanted(props.session.sessionId);

  async function run<O>(call: Promise<Outcome<O>>): Promise<O | undefined> {
    const outcome = await call;
    setError(outcome.status === 'error' ? outcome.error : undefined);
    return outcome.status === 'ok' ? outcome.output : undefined;
  }
  async function fork(): Promise<void> {
    const forked = await run(actions.session.fork(id()));
    if (forked !== undefined) navigate(`/sessions/${forked.sessionId}`);
  }
  const withCurrent = (found: { id: string; name: string }[] | undefined, current: string | undefined) =>
    found === undefined || (current !== undefined && !found.some((each) => each.id === current))
      ? [...(current === undefined ? [] : [{ id: current, name: current }]), ...(found ?? [])]
      : found;
  const modes = () => withCurrent(offers.data()?.modes, props.session.permissionMode);
  const models = () => withCurrent(offers.data()?.models, props.session.modelId);
  const isArchived = () => props.session.archivedAt !== undefined;

  return (
    <header class="session-head">
      <p class="trail">
        <A href="/sessions">{t('backToSessions')}</A>
        <For each={props.session.lineage.slice(0, -1)}>
          {(step) => (
            <>
              <span aria-hidden="true"> › </span>
              <A href={`/sessions/${step.sessionId}`}>{line(step.title ?? step.sessionId)}</A>
            </>
          )}
        </For>
      </p>
      <div class="title-row">
        <Show
          when={!editing()}
          fallback={<TitleForm session={props.session} onDone={() => setEditing(false)} onError={setError} />}
        >
          <h1 dir="auto">{props.session.title === undefined ? t('untitled') : line(props.session.title)}</h1>
          <button type="button" class="quiet small" onClick={() => setEditing(true)}>
            {t('editTitle')}
          </button>
        </Show>
        <StatusMark session={props.session} />
      </div>
      <div class="settings-row">
        <label>
          <span class="hidden-text">{t('mode')}</span>
          <select
            onFocus={ask}
            onPointerDown={ask}
            onChange={(event) =>
              void run(
                actions.session.permission_mode.set({
                  ...id(),
                  permissionMode: event.currentTarget.value as PermissionMode,
                }),
              )
            }
          >
            <For each={modes()}>
              {(mode) => (
                <option value={mode.id} selected={mode.id === props.session.permissionMode}>
                  {tOr(`mode_${mode.id}`, mode.id)}
                </option>
              )}
            </For>
          </select>
        </label>
        <Show when={models().length > 0}>
          <label>
            <span class="hidden-text">{t('model')}</span>
            <select
              onFocus={ask}
              onPointerDown={ask}
              onChange={(event) =>
                void run(actions.session.model.set({ ...id(), modelId: event.currentTarget.value }))
              }
            >
              <For each={models()}>
                {(model) => (
                  <option value={model.id} selected={model.id === props.session.modelId}>
                    {line(model.name)}
                  </option>
                )}
              </For>
            </select>
          </label>
        </Show>
        <button type="button" class="quiet small" onClick={() => void fork()}>
          {t('fork')}
        </button>
        <Show when={!['stopped', 'failed'].includes(props.session.status)}>
          <button type="button" class="quiet small" onClick={() => void run(actions.session.stop(id()))}>
            {t('stop')}
          </button>
        </Show>
        <button
          type="button"
          class="quiet small"
          onClick={() =>
            void run<unknown>(isArchived() ? actions.session.unarchive(id()) : actions.session.archive(id()))
          }
        >
          {t(isArchived() ? 'unarchive' : 'archive')}
        </button>
      </div>
      <SessionFacts session={props.session} />
      <Problem error={error()} />
    </header>
  );
}
