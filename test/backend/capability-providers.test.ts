import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, openWorld, type World } from './helpers/world.ts';

let world: World;
let token: string;
beforeEach(async () => {
  world = await openWorld();
  ({ token } = await world.signIn());
});
afterEach(() => world.end());

const call = (verb: string, input: object = {}) => world.call(token, `capability.provider.${verb}`, input);
const list = async () => (await world.ok(token, 'capability.provider.list', {})).providers;

describe('capability providers', () => {
  it('are kept under a normalised id, and count only while enabled and trusted', async () => {
    await call('add', { id: '  Acme Tools ', displayName: 'Acme Tools', trustState: 'trusted' });
    await call('add', { id: 'b', displayName: 'B' });
    await call('add', { id: 'c', displayName: 'C', trustState: 'trusted', enabled: false });
    const expected = [
      { id: 'acme-tools', displayName: 'Acme Tools', trustState: 'trusted', enabled: true, counts: true },
      { id: 'b', displayName: 'B', trustState: 'untrusted', enabled: true, counts: false },
      { id: 'c', displayName: 'C', trustState: 'trusted', enabled: false, counts: false },
    ];
    expect(await list()).toEqual(expected);
    await world.restart();
    expect(await list()).toEqual(expected);
  });

  it('two that are one once normalised are refused, and the first stays as it was', async () => {
    await call('add', { id: 'acme-tools', displayName: 'First' });
    const error = errorOf(await call('add', { id: 'ACME tools!', displayName: 'Second' }));
    expect(error).toMatchObject({ code: 'conflict', details: { id: 'acme-tools' } });
    expect(await list()).toMatchObject([{ displayName: 'First' }]);
  });

  it('change and go, and what is not there is named with the nearest', async () => {
    await call('add', {
      id: 'acme-tools',
      displayName: 'Acme',
      sourceDigest: 'sha256:abc',
      trustState: 'trusted',
    });
    await call('update', { id: 'Acme Tools', trustState: 'revoked' });
    expect(await list()).toMatchObject([
      { sourceDigest: 'sha256:abc', trustState: 'revoked', counts: false },
    ]);
    const error = errorOf(await call('update', { id: 'acme-tool', enabled: true }));
    expect(error).toMatchObject({ code: 'not_found', hint: 'Nearest: acme-tools.' });
    await call('remove', { id: 'acme-tools' });
    expect(await list()).toEqual([]);
    expect(errorOf(await call('remove', { id: 'acme-tools' })).code).toBe('not_found');
  });

  it('an id without a letter or digit is refused', async () => {
    const error = errorOf(await call('add', { id: '開物', displayName: 'Kaiwu' }));
    expect(error).toMatchObject({ code: 'invalid_input', details: { issues: [{ path: 'id' }] } });
  });

  it('an agent gets none of it', async () => {
    const envelope = await world.call(
      token,
      'capability.provider.add',
      { id: 'x', displayName: 'X' },
      { surface: 'agent' },
    );
    expect(errorOf(envelope)).toMatchObject({
      code: 'action_disabled',
      details: { reason: 'unsupported_surface' },
    });
  });
});
