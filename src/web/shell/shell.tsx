import {
  createEffect,
  createSignal,
  ErrorBoundary,
  For,
  type JSX,
  on,
  onMount,
  Show,
  Suspense,
} from 'solid-js';
import { connected } from '../api/feed.ts';
import { signOut } from '../api/sign-in.ts';
import { chooseLanguage, LANGUAGES, lang, t } from '../i18n/index.ts';
import { inboxCount } from '../inbox/inbox-state.ts';
import type { Language } from '../../core/spec.ts';
import { announced } from '../ui/announce.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { useKeys } from '../ui/keys.ts';
import { A, navigate, path } from '../ui/router.tsx';
import { SIGNED_IN_PATH } from '../settings/mcp/came-back.ts';
import { type Page, PAGES, pageOf, SessionPage, SignedInPage } from './pages.ts';
import { ShortcutsDialog } from './shortcuts.tsx';
import { chooseTheme, THEMES, type Theme, theme } from './theme.ts';

/** Navigation around, the page in the middle. */
export function Shell(): JSX.Element {
  const [menu, setMenu] = createSignal(false);
  const [help, setHelp] = createSignal(false);
  let main: HTMLElement | undefined;
  const page = () => pageOf(path());
  const title = () => t(page()?.title ?? 'notFound');

  useKeys({
    '?': () => setHelp(true),
    ...Object.fromEntries(PAGES.map(({ key, path }) => [`g ${key}`, () => navigate(path)])),
  });
  createEffect(() => {
    const count = inboxCount();
    document.title = `${count === '' ? '' : `(${count}) `}${title()} · Kaiwu`;
  });
  createEffect(
    on(
      path,
      () => {
        setMenu(false);
        main?.focus({ preventScroll: true });
        main?.scrollTo(0, 0);
      },
      { defer: true },
    ),
  );
  onMount(() => {
    if (path() === '/') navigate('/inbox', { replace: true });
  });

  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main?.focus())}>
        {t('skip')}
      </a>
      <nav class="side" aria-label={t('pages')}>
        <Brand />
        <NavLinks />
        <Foot onHelp={() => setHelp(true)} />
      </nav>
      <main id="main" ref={main} tabindex="-1">
        <Show when={connected() === false}>
          <p class="offline" role="status">
            {t('offline')}
          </p>
        </Show>
        <ErrorBoundary fallback={(_error, reset) => <Broken onLeave={reset} />}>
          <Suspense fallback={<p class="loading">{t('loading')}</p>}>
            <CurrentPage />
          </Suspense>
        </ErrorBoundary>
      </main>
      <nav class="tabs" aria-label={t('mainPages')}>
        <For each={PAGES.slice(0, 2)}>{(page) => <NavLink page={page} />}</For>
        <button type="button" onClick={() => setMenu(true)}>
          <Icon name="menu" />
          <span>{t('menu')}</span>
        </button>
      </nav>
      <Show when={menu()}>
        <Dialog title={t('menu')} class="drawer" onClose={() => setMenu(false)}>
          <NavLinks />
          <Foot onHelp={() => (setMenu(false), setHelp(true))} />
        </Dialog>
      </Show>
      <Show when={help()}>
        <ShortcutsDialog onClose={() => setHelp(false)} />
      </Show>
      <div class="hidden-text" role="status" aria-live="polite">
        {announced()}
      </div>
    </div>
  );
}

function CurrentPage(): JSX.Element {
  const sessionId = () => decoded(/^\/sessions\/([^/]+)$/.exec(path())?.[1] ?? '');
  const view = () => PAGES.find((page) => page.path === path());
  return (
    <Show
      when={sessionId()}
      keyed
      fallback={
        <Show when={path() !== SIGNED_IN_PATH} fallback={<SignedInPage />}>
          <Show when={view()} keyed fallback={<NotFound />}>
            {(page) => <page.view />}
          </Show>
        </Show>
      }
    >
      {(id) => <SessionPage sessionId={id} />}
    </Show>
  );
}

/** Nothing where it is no part of an address: anybody may have written it. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part) || undefined;
  } catch {
    return undefined;
  }
}

/** A page that cannot be shown, as when the backend was replaced by a newer one and no longer has this page's parts. */
function Broken(props: { onLeave: () => void }): JSX.Element {
  // The next page is not this one.
  createEffect(on(path, () => props.onLeave(), { defer: true }));
  return (
    <div class="page">
      <h1>{t('pageBroken')}</h1>
      <p class="buttons">
        <button type="button" class="primary" onClick={() => location.reload()}>
          {t('reload')}
        </button>
      </p>
    </div>
  );
}

function NotFound(): JSX.Element {
  return (
    <div class="page">
      <h1>{t('notFound')}</h1>
      <p>
        <A href="/inbox">{t('inbox')}</A>
      </p>
    </div>
  );
}

function Brand(): JSX.Element {
  return (
    <A href="/inbox" class="brand">
      <img src="/icon.svg" alt="" width="22" height="22" />
      Kaiwu
    </A>
  );
}

function NavLinks(): JSX.Element {
  return (
    <div class="nav-links">
      <For each={PAGES}>{(page) => <NavLink page={page} />}</For>
    </div>
  );
}

function NavLink(props: { page: Page }): JSX.Element {
  const isCurrent = () => pageOf(path()) === props.page;
  return (
    <A href={props.page.path} aria-current={isCurrent() ? 'page' : undefined}>
      <Icon name={props.page.icon} />
      <span>{t(props.page.title)}</span>
      <Show when={props.page.path === '/inbox' && inboxCount() !== ''}>
        <span class="count">
          {inboxCount()}
          <span class="hidden-text"> {t('waiting')}</span>
        </span>
      </Show>
    </A>
  );
}

function Foot(props: { onHelp: () => void }): JSX.Element {
  return (
    <div class="foot">
      <label>
        <span>{t('language')}</span>
        <select value={lang()} onChange={(event) => chooseLanguage(event.currentTarget.value as Language)}>
          <For each={Object.entries(LANGUAGES)}>
            {([id, name]) => (
              <option value={id} lang={id}>
                {name}
              </option>
            )}
          </For>
        </select>
      </label>
      <label>
        <span>{t('theme')}</span>
        <select value={theme()} onChange={(event) => chooseTheme(event.currentTarget.value as Theme)}>
          <For each={THEMES}>{(id) => <option value={id}>{t(`theme_${id}`)}</option>}</For>
        </select>
      </label>
      <button type="button" class="quiet" onClick={() => props.onHelp()}>
        {t('shortcuts')} <kbd>?</kbd>
      </button>
      <button type="button" class="quiet" onClick={() => void signOut()}>
        {t('signOut')}
      </button>
      <p class="state" classList={{ up: connected() === true }}>
        {connected() === true ? t('live') : t('notLive')}
      </p>
    </div>
  );
}
