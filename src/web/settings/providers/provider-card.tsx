import { createSignal, type JSX, Show } from 'solid-js';
import type { WireError } from '../../../core/errors.ts';
import { actions, must } from '../../api/call.ts';
import { toWire } from '../../api/live.ts';
import { t } from '../../i18n/index.ts';
import { announce } from '../../ui/announce.ts';
import { AskTwice } from '../../ui/ask-twice.tsx';
import { Problem } from '../../ui/problem.tsx';
import { line, Stranger } from '../../ui/text.tsx';
import { isAnswering, KINDS, type Provider } from './provider-values.ts';

/** One provider: what it is, whether it works, and what can be done with it. */
export function ProviderCard(props: {
  provider: Provider;
  onEdit: () => void;
  onChanged: () => void;
}): JSX.Element {
  const [tested, setTested] = createSignal<{ ok: boolean; text: string }>();
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<WireError>();
  const id = () => props.provider.id;
  const kindName = () => KINDS.find(([kind]) => kind === props.provider.kind)?.[1] ?? props.provider.kind;
  const facts = () =>
    [
      kindName(),
      t(isAnswering(props.provider.kind) ? 'providerAnswers' : 'providerSearches'),
      props.provider.model === undefined ? undefined : line(props.provider.model),
      props.provider.has_key ? t('providerHasKey') : undefined,
      props.provider.source === 'environment' ? t('providerFromEnvironment') : undefined,
    ].filter((fact) => fact !== undefined);

  async function run<O>(call: Promise<O>): Promise<O | undefined> {
    setBusy(true);
    setError(undefined);
    try {
      return await call;
    } catch (failure) {
      setError(toWire(failure));
      return undefined;
    } finally {
      setBusy(false);
    }
  }

  async function test(): Promise<void> {
    setTested(undefined);
    const found = await run(must(actions.provider.test({ id: id() })));
    if (found === undefined) return;
    const { ok, milliseconds, message } = found;
    setTested({ ok, text: ok ? t('providerWorks', { ms: milliseconds }) : (message ?? t('providerFails')) });
  }

  async function remove(): Promise<void> {
    if ((await run(must(actions.provider.remove({ id: id() })))) === undefined) return;
    announce(t('mcpRemoved', { name: line(id()) }));
    props.onChanged();
  }

  return (
    <article class="card" tabindex="-1" aria-label={line(id())}>
      <header>
        <h2>{line(id())}</h2>
      </header>
      <Show when={props.provider.base_url}>
        {(url) => (
          <p class="way">
            <code dir="auto">{line(url())}</code>
          </p>
        )}
      </Show>
      <p class="who">{facts().join(' · ')}</p>
      <Show when={tested()}>
        {(result) => (
          <p role="status" class={result().ok ? '' : 'problem'}>
            <Stranger text={result().text} />
          </p>
        )}
      </Show>
      <Problem error={error()} />
      <p class="buttons">
        <button type="button" class="small" disabled={busy()} onClick={() => void test()}>
          {t(busy() ? 'mcpTesting' : 'mcpTest')}
        </button>
        <Show when={props.provider.source === 'settings'}>
          <button type="button" class="small" onClick={() => props.onEdit()}>
            {t('mcpEdit')}
          </button>
          <AskTwice
            ask={t('mcpRemove')}
            of={line(id())}
            sure={t('mcpRemoveNow')}
            onSure={() => void remove()}
          />
        </Show>
      </p>
    </article>
  );
}
