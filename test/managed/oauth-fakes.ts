import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { RunnableServer } from '../../src/core/managed/managed.ts';
import { createSignIn } from '../../src/managed/oauth/create-sign-in.ts';
import { connect, createDeps, createVault, type FakeOptions, refuse, startFakeMcp } from './http-fakes.ts';

export const REDIRECT = 'http://127.0.0.1:7700/mcp/sign-in';

export interface FakeAuth {
  url: string;
  /** `GET /path`, and `token <grant>`. */
  log: string[];
  /** Parameters of requests for tokens, and of registrations. */
  asked: Record<string, unknown>[];
  /** Access tokens that are good. */
  good: Set<string>;
  refreshTokens: Set<string>;
  /** Changes of its metadata. */
  metadata: Record<string, unknown>;
  /** Answers the next requests for tokens in place of it. */
  tokenAnswer: { status: number; body: unknown } | undefined;
  /** Seconds that a token lasts. */
  expiresIn: number;
  /** The person in the browser: reads the address and consents. */
  consent(authorizationUrl: string): { state: string; code: string };
  close(): Promise<void>;
}

/** An authorization server that registers clients, checks PKCE and rotates refresh tokens. */
export async function startFakeAuth(): Promise<FakeAuth> {
  const codes = new Map<string, { challenge: string; redirectUri: string }>();
  let count = 0;
  const auth: FakeAuth = {
    url: '',
    log: [],
    asked: [],
    good: new Set(),
    refreshTokens: new Set(),
    metadata: {},
    tokenAnswer: undefined,
    expiresIn: 3600,
    consent(authorizationUrl) {
      const { searchParams } = new URL(authorizationUrl);
      const code = `code-${++count}`;
      codes.set(code, {
        challenge: searchParams.get('code_challenge')!,
        redirectUri: searchParams.get('redirect_uri')!,
      });
      return { state: searchParams.get('state')!, code };
    },
    close: async () => {},
  };

  function give() {
    const [access, refresh] = [`access-${++count}-geheim`, `refresh-${count}-geheim`];
    auth.good.add(access);
    auth.refreshTokens.add(refresh);
    return { access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: auth.expiresIn };
  }

  function grant(params: URLSearchParams): { status: number; body: unknown } {
    if (auth.tokenAnswer !== undefined) return auth.tokenAnswer;
    const invalid = { status: 400, body: { error: 'invalid_grant', error_description: 'no' } };
    if (params.get('grant_type') === 'refresh_token') {
      return auth.refreshTokens.delete(params.get('refresh_token')!)
        ? { status: 200, body: give() }
        : invalid;
    }
    const begun = codes.get(params.get('code')!);
    codes.delete(params.get('code')!);
    const challenge = createHash('sha256').update(params.get('code_verifier')!).digest('base64url');
    const isSame = begun?.challenge === challenge && begun.redirectUri === params.get('redirect_uri');
    return isSame ? { status: 200, body: give() } : invalid;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const json = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.url === '/token') {
      const params = new URLSearchParams(body);
      auth.log.push(`token ${params.get('grant_type')}`);
      auth.asked.push(Object.fromEntries(params));
      const { status, body: answer } = grant(params);
      return json(status, answer);
    }
    auth.log.push(`${request.method} ${request.url}`);
    if (request.url === '/register') {
      const asked = JSON.parse(body) as Record<string, unknown>;
      auth.asked.push(asked);
      return json(201, { ...asked, client_id: `client-${++count}` });
    }
    if (request.url !== '/.well-known/oauth-authorization-server') return json(404, {});
    json(200, {
      issuer: auth.url,
      authorization_endpoint: `${auth.url}/authorize`,
      token_endpoint: `${auth.url}/token`,
      registration_endpoint: `${auth.url}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      ...auth.metadata,
    });
  }

  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  auth.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  auth.close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return auth;
}

export interface OAuthWorldOptions extends FakeOptions {
  config?: Partial<RunnableServer['config']>;
  /** Changes of what the server says of itself as a resource. */
  resource?: Record<string, unknown>;
  /** Further parameters of its challenge. */
  challenge?: string;
}

/** A server that wants a sign-in, where that is done, and what we have of both. */
export async function startOAuthWorld(options: OAuthWorldOptions = {}) {
  const auth = await startFakeAuth();
  const mcp = await startFakeMcp({
    ...options,
    async instead(seen, fake) {
      const { http, response } = seen;
      const origin = new URL(fake.url).origin;
      if (http.url?.startsWith('/.well-known/oauth-protected-resource')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        const own = { resource: fake.url, authorization_servers: [auth.url] };
        response.end(JSON.stringify({ ...own, ...options.resource }));
        return true;
      }
      if (!auth.good.has((http.headers.authorization ?? '').replace('Bearer ', ''))) {
        const where = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
        return refuse(seen, 401, { 'www-authenticate': `Bearer ${options.challenge ?? where}` });
      }
      return (await options.instead?.(seen, fake)) === true;
    },
  });
  const kept = new Map<string, Record<string, unknown>>();
  let time = Date.now();
  const said: unknown[] = [];
  const hear = (...what: unknown[]) => void said.push(what);
  const deps = {
    ...createDeps({ log: { debug: hear, info: hear, warn: hear, error: hear } }),
    vault: createVault(kept),
    now: () => new Date(time),
  };
  const server: RunnableServer = { key: 'srv_1', config: { name: 'fake', url: mcp.url, ...options.config } };
  const signIn = createSignIn({ ...deps, find: (key) => (key === server.key ? server : undefined) });
  return {
    auth,
    mcp,
    kept,
    deps,
    server,
    signIn,
    /** All that was logged, as text. */
    logged: () => JSON.stringify(said),
    pass(seconds: number) {
      time += seconds * 1000;
    },
    connect: () => connect({ ...server.config, url: server.config.url ?? '' }, deps),
    /** From begin to end, by a person who consents. */
    async signInFully() {
      const { authorizationUrl } = await signIn.begin(server.key, REDIRECT);
      await signIn.complete(auth.consent(authorizationUrl));
    },
    async close() {
      await mcp.close();
      await auth.close();
    },
  };
}

export type OAuthWorld = Awaited<ReturnType<typeof startOAuthWorld>>;
