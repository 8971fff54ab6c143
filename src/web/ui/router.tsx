import { createSignal, type JSX } from 'solid-js';

const [path, setPath] = createSignal(location.pathname);

export { path };

function sync(): void {
  setPath(location.pathname);
}

addEventListener('popstate', sync);

export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else if (to !== location.pathname + location.search) history.pushState(null, '', to);
  sync();
}

/** A link inside the app: the page stays, only what it shows changes. */
export function A(props: JSX.AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }): JSX.Element {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(props.href);
  };
  return <a {...props} onClick={follow} />;
}
