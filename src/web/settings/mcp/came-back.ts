/** Path that a browser comes back to after signing in to an MCP server. */
export const SIGNED_IN_PATH = '/settings/mcp-servers/signed-in';

export interface SignInAnswer {
  state: string;
  code?: string;
  error?: string;
  iss?: string;
}

/** Taken out of the address before anything is drawn or asked, so that no history, log or page keeps it. */
function take(): SignInAnswer | undefined {
  if (location.pathname !== SIGNED_IN_PATH || location.search === '') return undefined;
  const given = new URLSearchParams(location.search);
  history.replaceState(null, '', SIGNED_IN_PATH);
  const read = (name: string) => given.get(name) || undefined;
  const [state, code, error, iss] = [read('state'), read('code'), read('error'), read('iss')];
  return state === undefined
    ? undefined
    : {
        state,
        ...(code === undefined ? {} : { code }),
        ...(error === undefined ? {} : { error: error.slice(0, 1000) }),
        ...(iss === undefined ? {} : { iss }),
      };
}

let answer = take();

/** What the browser came back with, once. */
export function takeAnswer(): SignInAnswer | undefined {
  const taken = answer;
  answer = undefined;
  return taken;
}
