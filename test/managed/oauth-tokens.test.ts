import { afterEach, describe, expect, it } from 'vitest';
import { createManagedRuntime } from '../../src/managed/runtime.ts';
import { connect } from './http-fakes.ts';
import { type OAuthWorld, type OAuthWorldOptions, REDIRECT, startOAuthWorld } from './oauth-fakes.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function start(options: OAuthWorldOptions = {}) {
  const world = await startOAuthWorld(options);
  ends.push(world.close);
  return world;
}

async function signedIn(options: OAuthWorldOptions = {}) {
  const world = await start(options);
  await world.signInFully();
  const made = await world.connect();
  ends.push(made.close);
  // The stream that it opens by itself is refused by now, and asks for nothing more.
  await expect
    .poll(() => world.mcp.seen.some(({ http }) => http.url === '/mcp' && http.method === 'GET'))
    .toBe(true);
  return { world, made };
}

const refreshes = ({ auth }: OAuthWorld) => auth.log.filter((line) => line === 'token refresh_token').length;
const calls = ({ mcp }: OAuthWorld) => mcp.log.filter((line) => line === 'POST tools/call').length;

describe('tokens of a sign-in', () => {
  it('are refreshed once for twenty calls that are refused', async () => {
    const { world, made } = await signedIn();
    world.pass(120);
    world.auth.good.clear();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => made.call({ n })));
    expect(answers).toHaveLength(20);
    expect(refreshes(world)).toBe(1);
    expect(world.auth.asked.at(-1)).toMatchObject({ resource: world.mcp.url });
    expect(JSON.stringify(world.kept.get('srv_1'))).toContain([...world.auth.refreshTokens][0]);
  });

  it('are refreshed before they end', async () => {
    const { world, made } = await signedIn();
    world.pass(3600 - 20);
    const before = calls(world);
    await Promise.all([made.call(), made.call()]);
    expect(refreshes(world)).toBe(1);
    expect(calls(world) - before).toBe(2);
  });

  it('that were taken back are one clear state, without a loop, until the next sign-in', async () => {
    const { world, made } = await signedIn();
    world.pass(120);
    world.auth.good.clear();
    world.auth.refreshTokens.clear();
    const before = calls(world);
    for (let n = 0; n < 20; n++) {
      await expect(made.call()).rejects.toMatchObject({ code: 'mcp_sign_in_needed' });
    }
    expect(calls(world) - before).toBe(1);
    expect(refreshes(world)).toBe(1);
    await world.signInFully();
    await expect(made.call({ n: 1 })).resolves.toMatchObject({ content: [{ text: '{"n":1}' }] });
  });

  it('stay when the authorization server is out of order', async () => {
    const { world, made } = await signedIn();
    world.pass(120);
    world.auth.good.clear();
    world.auth.tokenAnswer = { status: 503, body: { error: 'temporarily_unavailable' } };
    await expect(made.call()).rejects.toMatchObject({
      code: 'mcp_server_unavailable',
      message: expect.stringContaining(`authorization server at ${world.auth.url}`),
    });
    world.auth.tokenAnswer = undefined;
    await made.call();
    expect(refreshes(world)).toBe(2);
  });

  it('go to no other address than the one that was signed in to', async () => {
    const { world } = await signedIn();
    const other = await start();
    await expect(connect({ url: other.mcp.url }, world.deps)).rejects.toMatchObject({
      code: 'mcp_sign_in_needed',
    });
    expect(other.mcp.seen.every(({ http }) => http.headers.authorization === undefined)).toBe(true);
  });

  it('whose record is damaged are none', async () => {
    const world = await start();
    world.kept.set('srv_1', { serverUrl: world.mcp.url, tokens: 7 });
    await expect(world.connect()).rejects.toMatchObject({ code: 'mcp_sign_in_needed' });
    await world.signInFully();
    await (await world.connect()).close();
  });

  it('are in no message and no log', async () => {
    const { world, made } = await signedIn();
    world.pass(120);
    world.auth.good.clear();
    world.auth.tokenAnswer = {
      status: 400,
      body: { error: 'invalid_grant', error_description: 'access-geheim' },
    };
    const error = await made.call().catch((thrown: unknown) => thrown as Error);
    expect(JSON.stringify([error, (error as Error).message, world.logged()])).not.toContain('geheim');
  });
});

describe('a server that refuses every fresh token', () => {
  /** Its authorization server goes on giving tokens, and it takes none. */
  async function refusing() {
    const world = await start();
    await world.signInFully();
    world.auth.good.add = () => world.auth.good;
    world.auth.good.clear();
    world.pass(120);
    world.mcp.log.length = 0;
    world.auth.log.length = 0;
    return world;
  }

  it('is asked at most ten times, with three refreshes, in a minute of connecting and calling', async () => {
    const world = await refusing();
    for (let n = 0; n < 59; n++) {
      await expect(world.connect()).rejects.toMatchObject({ code: 'mcp_sign_in_needed' });
      world.pass(1);
    }
    expect(world.mcp.log.length).toBeLessThanOrEqual(10);
    expect(refreshes(world)).toBeLessThanOrEqual(3);
    expect(refreshes(world)).toBeGreaterThan(0);
    expect(world.auth.log.filter((line) => line.includes('authorize'))).toEqual([]);
  });

  it('is shown as such by the runtime, and is ready after a sign-in that it takes', async () => {
    const world = await refusing();
    let heard = () => {};
    const runtime = createManagedRuntime({ ...world.deps, onChange: () => heard() });
    ends.push(() => runtime.close());
    const reaches = (status: string) =>
      new Promise<void>((resolve) => {
        heard = () => (runtime.states()[0]?.status === status ? resolve() : undefined);
      });
    const needed = reaches('sign_in_needed');
    runtime.apply([world.server]);
    await needed;
    const signal = new AbortController().signal;
    const call = () => runtime.call({ key: 'srv_1', tool: 'echo', arguments: { n: 1 } }, signal);
    for (let n = 0; n < 100; n++) await expect(call()).rejects.toMatchObject({ code: 'mcp_sign_in_needed' });
    expect(world.mcp.log.length).toBeLessThanOrEqual(10);
    expect(refreshes(world)).toBeLessThanOrEqual(3);
    expect(runtime.states()[0]).toMatchObject({ status: 'sign_in_needed' });

    Reflect.deleteProperty(world.auth.good, 'add');
    const { authorizationUrl } = await world.signIn.begin('srv_1', REDIRECT);
    await world.signIn.complete(world.auth.consent(authorizationUrl));
    expect(await runtime.test('srv_1', signal)).toMatchObject({ status: 'ready', transport: 'http' });
    expect(await call()).toMatchObject({ content: [{ text: '{"n":1}' }] });
  });

  it('just after a sign-in is not asked with another token', async () => {
    const world = await start();
    await world.signInFully();
    world.auth.good.clear();
    await expect(world.connect()).rejects.toMatchObject({ code: 'mcp_sign_in_needed' });
    expect(refreshes(world)).toBe(0);
  });

  it('in the middle of a session takes nothing from the call but an answer', async () => {
    const { world, made } = await signedIn();
    world.pass(120);
    world.auth.good.add = () => world.auth.good;
    world.auth.good.clear();
    const before = calls(world);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => made.call()));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(calls(world) - before).toBeLessThanOrEqual(40);
    expect(refreshes(world)).toBe(1);
    const after = calls(world);
    await expect(made.call()).rejects.toMatchObject({ code: 'mcp_sign_in_needed' });
    expect(calls(world)).toBe(after);
  });
});
