import { afterEach, describe, expect, it } from 'vitest';
import { type OAuthWorldOptions, REDIRECT, startOAuthWorld } from './oauth-fakes.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function start(options: OAuthWorldOptions = {}) {
  const world = await startOAuthWorld(options);
  ends.push(world.close);
  return world;
}

const asked = (authorizationUrl: string) => Object.fromEntries(new URL(authorizationUrl).searchParams);

describe('signing in to a server', () => {
  it('is asked for, done in a browser, and good for calls', async () => {
    const world = await start({ resource: { scopes_supported: ['files', 'mail'] } });
    await expect(world.connect()).rejects.toMatchObject({
      code: 'mcp_sign_in_needed',
      message: expect.stringContaining('fake'),
      hint: expect.stringContaining('login fake'),
    });
    const { authorizationUrl, state } = await world.signIn.begin('srv_1', REDIRECT);
    expect(authorizationUrl).toContain(`${world.auth.url}/authorize?`);
    expect(asked(authorizationUrl)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: REDIRECT,
      resource: world.mcp.url,
      scope: 'files mail',
      state,
    });
    expect(world.auth.asked[0]).toMatchObject({ client_name: 'Kaiwu', redirect_uris: [REDIRECT] });
    expect(await world.signIn.complete(world.auth.consent(authorizationUrl))).toEqual({ key: 'srv_1' });
    expect(world.auth.asked[1]).toMatchObject({ grant_type: 'authorization_code', resource: world.mcp.url });
    const made = await world.connect();
    ends.push(made.close);
    await expect(made.call({ n: 1 })).resolves.toMatchObject({ content: [{ text: '{"n":1}' }] });
    expect(JSON.stringify(world.kept.get('srv_1'))).toContain('access-');
    expect(world.logged()).not.toContain('geheim');
  });

  it('registers once, however often it is begun', async () => {
    const world = await start();
    await world.signIn.begin('srv_1', REDIRECT);
    await world.signInFully();
    await world.signInFully();
    expect(world.auth.log.filter((line) => line === 'POST /register')).toHaveLength(1);
    await world.signIn.begin('srv_1', 'https://kaiwu.example/mcp/sign-in');
    expect(world.auth.log.filter((line) => line === 'POST /register')).toHaveLength(2);
  });

  it('uses the client and the scope of the configuration', async () => {
    const world = await start({ config: { oauth: { clientId: 'mine', scope: 'all' } } });
    const { authorizationUrl } = await world.signIn.begin('srv_1', REDIRECT);
    expect(asked(authorizationUrl)).toMatchObject({ client_id: 'mine', scope: 'all' });
    await world.signIn.complete(world.auth.consent(authorizationUrl));
    expect(world.auth.asked).toMatchObject([{ client_id: 'mine', grant_type: 'authorization_code' }]);
  });

  it('without registration there needs a client id', async () => {
    const world = await start();
    world.auth.metadata = { registration_endpoint: undefined };
    await expect(world.signIn.begin('srv_1', REDIRECT)).rejects.toMatchObject({
      code: 'unsupported',
      hint: expect.stringContaining('oauth.clientId'),
    });
  });

  it('can be forgotten', async () => {
    const world = await start();
    await world.signInFully();
    await world.signIn.forget('srv_1');
    expect(world.kept.size).toBe(0);
    await expect(world.connect()).rejects.toMatchObject({ code: 'mcp_sign_in_needed' });
  });

  it('is not for programs, for servers with a token, and for none', async () => {
    const world = await start({ config: { token: 'own' } });
    await expect(world.signIn.begin('srv_1', REDIRECT)).rejects.toMatchObject({ code: 'conflict' });
    world.server.config = { name: 'fake', command: 'x' };
    await expect(world.signIn.begin('srv_1', REDIRECT)).rejects.toMatchObject({ code: 'unsupported' });
    await expect(world.signIn.begin('srv_2', REDIRECT)).rejects.toMatchObject({
      code: 'mcp_server_not_found',
    });
  });

  it('asks for the scope that a call came short of', async () => {
    const world = await start({
      instead(seen) {
        if (seen.message?.method !== 'tools/call') return false;
        seen.response.writeHead(403, {
          'www-authenticate': 'Bearer error="insufficient_scope", scope="write"',
        });
        seen.response.end();
        return true;
      },
    });
    await world.signInFully();
    const made = await world.connect();
    ends.push(made.close);
    await expect(made.call()).rejects.toMatchObject({
      code: 'mcp_sign_in_needed',
      message: expect.stringContaining('"write"'),
    });
    const { authorizationUrl } = await world.signIn.begin('srv_1', REDIRECT);
    expect(asked(authorizationUrl)['scope']).toBe('write');
  });
});

describe('the state of a sign-in', () => {
  it('is good once', async () => {
    const world = await start();
    const { authorizationUrl } = await world.signIn.begin('srv_1', REDIRECT);
    const answer = world.auth.consent(authorizationUrl);
    await world.signIn.complete(answer);
    await expect(world.signIn.complete(answer)).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.signIn.complete({ state: 'guessed', code: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(world.auth.log.filter((line) => line.startsWith('token'))).toHaveLength(1);
  });

  it('ends after ten minutes, and with the address that it was for', async () => {
    const world = await start();
    const first = await world.signIn.begin('srv_1', REDIRECT);
    world.pass(601);
    await expect(world.signIn.complete({ state: first.state, code: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    });
    const second = await world.signIn.begin('srv_1', REDIRECT);
    world.server.config.url = 'https://elsewhere.example/mcp';
    await expect(world.signIn.complete({ state: second.state, code: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(world.auth.log.filter((line) => line.startsWith('token'))).toEqual([]);
  });

  it.each([
    [{ error: 'access_denied' }, 'access_denied'],
    [{ error: 'server_error\u202e' }, 'mcp_sign_in_needed'],
    [{}, 'mcp_sign_in_needed'],
    [{ code: 'stolen' }, 'mcp_sign_in_needed'],
  ])('comes back with %j', async (answer, code) => {
    const world = await start();
    const { state } = await world.signIn.begin('srv_1', REDIRECT);
    const error = await world.signIn
      .complete({ state, ...answer })
      .catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code });
    expect((error as Error).message).not.toContain('\u202e');
    expect(world.kept.get('srv_1')).not.toHaveProperty('tokens');
  });

  it.each([
    ['another', 'https://evil.example', false],
    ['no', undefined, true],
  ])('comes back from %s authorization server: the code goes nowhere', async (_, iss, isPromised) => {
    const world = await start();
    world.auth.metadata = { authorization_response_iss_parameter_supported: isPromised };
    const { authorizationUrl } = await world.signIn.begin('srv_1', REDIRECT);
    const answer = { ...world.auth.consent(authorizationUrl), ...(iss === undefined ? {} : { iss }) };
    await expect(world.signIn.complete(answer)).rejects.toMatchObject({ code: 'access_denied' });
    expect(world.auth.log.filter((line) => line.startsWith('token'))).toEqual([]);
  });

  it('comes back from the right one', async () => {
    const world = await start();
    world.auth.metadata = { authorization_response_iss_parameter_supported: true };
    const { authorizationUrl } = await world.signIn.begin('srv_1', REDIRECT);
    const answer = { ...world.auth.consent(authorizationUrl), iss: world.auth.url };
    expect(await world.signIn.complete(answer)).toEqual({ key: 'srv_1' });
  });
});

describe('addresses that a server names', () => {
  const refused = { code: 'access_denied', message: expect.stringContaining('not allowed') };

  it.each([
    ['http://169.254.169.254/latest'],
    ['https://127.0.0.2/x'],
    ['https://[::1]/x'],
    ['http://auth.example/x'],
    ['file:///etc/passwd'],
  ])('for its metadata are not asked: %s', async (url) => {
    const world = await start({ challenge: `resource_metadata="${url}"` });
    await expect(world.signIn.begin('srv_1', REDIRECT)).rejects.toMatchObject(refused);
  });

  it.each(['http://10.0.0.1', 'https://192.168.1.1', 'http://auth.example'])(
    'as its authorization server are not asked: %s',
    async (url) => {
      const world = await start({ resource: { authorization_servers: [url] } });
      await expect(world.signIn.begin('srv_1', REDIRECT)).rejects.toMatchObject(refused);
    },
  );

  it.each(['authorization_endpoint', 'token_endpoint', 'registration_endpoint'])(
    'as %s are judged before anything goes there',
    async (name) => {
      const world = await start();
      world.auth.metadata = { [name]: 'http://169.254.169.254/x' };
      await expect(world.signIn.begin('srv_1', REDIRECT)).rejects.toMatchObject(refused);
      expect(world.auth.asked).toEqual([]);
    },
  );

  it('are not those of another resource or issuer', async () => {
    const world = await start({ resource: { resource: 'https://elsewhere.example/mcp' } });
    await expect(world.signIn.begin('srv_1', REDIRECT)).rejects.toMatchObject({ code: 'unsupported' });
    const other = await start();
    other.auth.metadata = { issuer: 'https://evil.example' };
    await expect(other.signIn.begin('srv_1', REDIRECT)).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('may be none', async () => {
    const world = await start({ resource: { authorization_servers: undefined } });
    await expect(world.signIn.begin('srv_1', REDIRECT)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('offers no OAuth sign-in'),
    });
  });
});
