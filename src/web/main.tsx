import { type JSX, Match, onCleanup, onMount, Switch } from 'solid-js';
import { render } from 'solid-js/web';
import { startFeed } from './api/feed.ts';
import { begin, checkAgain, signInState } from './api/sign-in.ts';
import { startInbox } from './inbox/inbox-state.ts';
import { startNotifications } from './inbox/notify.tsx';
import { Shell } from './shell/shell.tsx';
import { SignInPage } from './sign-in/sign-in-page.tsx';

function App(): JSX.Element {
  return (
    <Switch>
      <Match when={signInState() === 'in'}>
        <SignedIn />
      </Match>
      <Match when={signInState() === 'out' || signInState() === 'unreachable'}>
        <SignInPage />
      </Match>
    </Switch>
  );
}

function SignedIn(): JSX.Element {
  startInbox();
  startNotifications();
  onMount(() => onCleanup(startFeed(() => void checkAgain())));
  return <Shell />;
}

void begin();
render(() => <App />, document.getElementById('app')!);
