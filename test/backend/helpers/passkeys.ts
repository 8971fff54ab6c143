import { expect } from 'vitest';
import { createAuthenticator, type Faults } from './authenticator.ts';
import type { Json } from './json.ts';
import { openWorld, type World } from './world.ts';

export const PATHS = {
  addOptions: '/v1/auth/passkeys/options',
  add: '/v1/auth/passkeys',
  signInOptions: '/v1/auth/passkey-sign-in/options',
  signIn: '/v1/auth/passkey-sign-in',
};

export type Authenticator = ReturnType<typeof createAuthenticator>;
type Headers = Record<string, string>;

export const bodyOf = async (answer: Response | Promise<Response>): Promise<Json> =>
  (await (await answer).json()) as Json;

/** Code and reason that a request was refused with. */
export async function refusalOf(answer: Response | Promise<Response>): Promise<[unknown, unknown]> {
  const { error } = await bodyOf(answer);
  return [error?.code, error?.details?.reason];
}

/** What a browser sends that was signed in by this answer. */
export const toHeaders = (answer: Response, { pageKey }: { pageKey: string }): Headers => ({
  cookie: answer.headers.get('set-cookie')!.split(';')[0]!,
  'x-kaiwu-page': pageKey,
});

/** A backend at localhost, and an app that is signed in there. */
export async function openPasskeys() {
  const world: World = await openWorld();
  let origin = '';
  const atLocalhost = () => {
    origin = `http://localhost:${world.port}`;
    world.url = origin;
  };
  atLocalhost();

  const post = (path: string, body: unknown, headers: Headers = {}) =>
    world.post(path, body, { headers: { origin, ...headers } });

  async function openApp(): Promise<Headers> {
    const { token } = await world.signIn();
    const { url } = await bodyOf(world.post('/v1/auth/app-link', {}, { token }));
    const key = String(url).split('#key=')[1];
    const answer = await world.post('/v1/auth/app-link/redeem', { key });
    return toHeaders(answer, await bodyOf(answer));
  }
  const web = await openApp();

  async function add(authenticator: Authenticator, more: object = {}, faults: Faults = {}) {
    const options = await bodyOf(post(PATHS.addOptions, {}, web));
    const response = authenticator.create(options, faults);
    return post(PATHS.add, { name: 'Laptop', response, ...more }, web);
  }

  return {
    world,
    web,
    post,
    openApp,
    add,
    get origin() {
      return origin;
    },
    authenticator: () => createAuthenticator(origin),
    async newPasskey(more: object = {}): Promise<{ authenticator: Authenticator; passkeyId: string }> {
      const authenticator = createAuthenticator(origin);
      const answer = await add(authenticator, more);
      expect(answer.status).toBe(200);
      return { authenticator, passkeyId: String((await bodyOf(answer)).passkeyId) };
    },
    async signIn(authenticator: Authenticator, faults: Faults = {}) {
      const options = await bodyOf(post(PATHS.signInOptions, {}));
      return post(PATHS.signIn, { response: authenticator.get(options, faults), browser: 'Test browser' });
    },
    call: (id: string, input: object, headers = web) =>
      bodyOf(world.post(`/v1/actions/${id}`, { input, context: { surface: 'app' } }, { headers })),
    whoami: async (headers: Headers) => (await world.get('/v1/whoami', { headers })).status,
    rowsOf: async (name: string) =>
      (await world.store.audit.list({}, { limit: 50 })).items.filter(({ actionId }) => actionId === name),
    /** Starts the backend again, on another port. */
    async restart(...more: Parameters<World['restart']>) {
      await world.restart(...more);
      atLocalhost();
    },
  };
}
