import { createSignal, type JSX, Show } from 'solid-js';
import type { WireError } from '../../../core/errors.ts';
import { actions, must } from '../../api/call.ts';
import { toWire } from '../../api/live.ts';
import { t } from '../../i18n/index.ts';
import { announce } from '../../ui/announce.ts';
import { Problem } from '../../ui/problem.tsx';
import { line } from '../../ui/text.tsx';
import { canSignIn, isOfFile, type Server } from './servers.ts';
import { SIGNED_IN_PATH } from './came-back.ts';

/** All that can be done with a server. */
export function ServerButtons(props: {
  server: Server;
  onEdit: () => void;
  onChanged: () => void;
}): JSX.Element {
  const [asking, setAsking] = createSignal(false);
  const [busy, setBusy] = createSignal<'test' | 'other'>();
  const [error, setError] = createSignal<WireError>();
  /** Where the sign-in goes on. It is kept by nothing but this page. */
  const [goesTo, setGoesTo] = createSignal<URL>();
  const name = () => props.server.name;
  const isOff = () => props.server.config.enabled === false;

  async function run<O>(kind: 'test' | 'other', call: Promise<O>): Promise<O | undefined> {
    setBusy(kind);
    setError(undefined);
    try {
      return await call;
    } catch (failure) {
      setError(toWire(failure));
      return undefined;
    } finally {
      setBusy(undefined);
      props.onChanged();
    }
  }

  async function test(): Promise<void> {
    const found = await run('test', must(actions.mcp.server.test({ name: name() })));
    if (found !== undefined) announce(`${line(found.name)}: ${t(`mcp_status_${found.status}`)}`);
  }

  async function remove(): Promise<void> {
    setAsking(false);
    if ((await run('other', must(actions.mcp.server.remove({ name: name() })))) !== undefined)
      announce(t('mcpRemoved', { name: line(name()) }));
  }

  async function signIn(): Promise<void> {
    const redirectUri = location.origin + SIGNED_IN_PATH;
    const begun = await run('other', must(actions.mcp.server.login.begin({ name: name(), redirectUri })));
    if (begun === undefined) return;
    const url = URL.canParse(begun.authorizationUrl) ? new URL(begun.authorizationUrl) : undefined;
    // A server of strangers names it: it must lead to a page, and run nothing here.
    if (url !== undefined && /^https?:$/.test(url.protocol)) setGoesTo(url);
    else setError({ code: 'unsupported', message: t('mcpNoAddress'), retryable: false });
  }

  return (
    <>
      <Problem error={error()} />
      <Show when={goesTo()}>
        {(url) => (
          <div class="inline-form" role="status">
            <p>{t('mcpSignInAt', { host: line(url().host) })}</p>
            <p class="buttons">
              <button
                ref={(button) => queueMicrotask(() => button.focus())}
                type="button"
                class="primary"
                onClick={() => location.assign(url().href)}
              >
                {t('mcpGoOn', { host: line(url().host) })}
              </button>
              <button type="button" class="quiet" onClick={() => setGoesTo(undefined)}>
                {t('cancel')}
              </button>
            </p>
          </div>
        )}
      </Show>
      <p class="buttons">
        <Show when={canSignIn(props.server) && !isOff() && goesTo() === undefined}>
          <button
            type="button"
            class={props.server.status === 'sign_in_needed' ? 'primary small' : 'small'}
            disabled={busy() !== undefined}
            onClick={() => void signIn()}
          >
            {t('mcpSignIn')}
          </button>
        </Show>
        <Show when={!isOff()}>
          <button type="button" class="small" disabled={busy() !== undefined} onClick={() => void test()}>
            {t(busy() === 'test' ? 'mcpTesting' : 'mcpTest')}
          </button>
        </Show>
        <Show when={props.server.source === 'account'}>
          <button type="button" class="small" onClick={() => props.onEdit()}>
            {t('mcpEdit')}
          </button>
          <button
            type="button"
            class="small"
            disabled={busy() !== undefined}
            onClick={() =>
              void run(
                'other',
                must(
                  isOff()
                    ? actions.mcp.server.enable({ name: name() })
                    : actions.mcp.server.disable({ name: name() }),
                ),
              )
            }
          >
            {t(isOff() ? 'mcpEnable' : 'mcpDisable')}
          </button>
        </Show>
        <Show when={!isOfFile(props.server)} fallback={<span class="muted">{t('mcpFileHow')}</span>}>
          <Show
            when={asking()}
            fallback={
              <button
                type="button"
                class="quiet small"
                disabled={busy() !== undefined}
                onClick={() => setAsking(true)}
              >
                {t('mcpRemove')}
              </button>
            }
          >
            <button type="button" class="danger small" onClick={() => void remove()}>
              {t('mcpRemoveNow')}
            </button>
            <button type="button" class="quiet small" onClick={() => setAsking(false)}>
              {t('cancel')}
            </button>
          </Show>
        </Show>
      </p>
    </>
  );
}
