import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NewToken } from '../../../../src/backend/store/store.ts';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';

const newToken = (tokenId: string, more: Partial<NewToken> = {}): NewToken => ({
  tokenId,
  hash: `hash of ${tokenId}`,
  kind: 'api',
  name: tokenId,
  scope: { surfaces: ['mcp'], actions: ['session.*'] },
  ...more,
});

export function identitySuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  test('a token is found by its hash only, with its scope', async () => {
    const token = newToken('tok_1', { deviceId: 'dev_1', expiresAt: '2027-01-01T00:00:00.000Z' });
    const { hash, deviceId, ...stored } = { ...token, createdAt: '2026-11-30T12:00:00.000Z' };
    expect(await world.store.identity.insertToken(token)).toStrictEqual(stored);
    const { identity } = await world.reopen();
    expect(await identity.findToken(hash)).toStrictEqual({ ...stored, deviceId });
    expect(await identity.findToken('tok_1')).toBeUndefined();
    expect(await identity.listTokens()).toStrictEqual([stored]);
    await expect(identity.insertToken(newToken('tok_2', { hash }))).rejects.toThrow(/unique|duplicate/i);
  });

  test('the list has the tokens that people make, newest first', async () => {
    const { identity } = world.store;
    for (const [id, kind] of [
      ['tok_1', 'api'],
      ['tok_2', 'device'],
      ['tok_3', 'voice'],
      ['tok_4', 'agent'],
    ] as const) {
      await identity.insertToken(newToken(id, { kind }));
      world.runtime.advance(1);
    }
    expect((await identity.listTokens()).map((token) => token.tokenId)).toEqual(['tok_3', 'tok_1']);
  });

  test('revoking a device revokes its tokens and no others, once', async () => {
    const { identity } = world.store;
    await identity.insertDevice({ deviceId: 'dev_1', name: 'laptop' });
    await identity.insertDevice({ deviceId: 'dev_2', name: 'phone' });
    await identity.insertToken(newToken('tok_1', { kind: 'device', deviceId: 'dev_1' }));
    await identity.insertToken(newToken('tok_2', { kind: 'web', deviceId: 'dev_1' }));
    await identity.insertToken(newToken('tok_3', { kind: 'device', deviceId: 'dev_2' }));
    world.runtime.advance(1000);
    const revokedAt = '2026-11-30T12:00:01.000Z';
    const device = { deviceId: 'dev_1', name: 'laptop', createdAt: '2026-11-30T12:00:00.000Z', revokedAt };
    expect(await identity.revokeDevice('dev_1')).toStrictEqual(device);
    world.runtime.advance(1000);
    expect(await identity.revokeDevice('dev_1')).toStrictEqual(device);
    expect(await identity.revokeDevice('dev_none')).toBeUndefined();
    const revoked = async (id: string) => (await identity.findToken(`hash of ${id}`))?.revokedAt;
    expect([await revoked('tok_1'), await revoked('tok_2'), await revoked('tok_3')]).toEqual([
      revokedAt,
      revokedAt,
      undefined,
    ]);
    expect((await identity.listDevices()).map((d) => d.revokedAt)).toEqual([undefined, revokedAt]);
  });

  test('revoking a token is remembered from the first time', async () => {
    const { identity } = world.store;
    await identity.insertToken(newToken('tok_1'));
    const first = await identity.revokeToken('tok_1');
    world.runtime.advance(1000);
    expect(first?.revokedAt).toBe('2026-11-30T12:00:00.000Z');
    expect(await identity.revokeToken('tok_1')).toStrictEqual(first);
    expect(await identity.revokeToken('tok_none')).toBeUndefined();
  });

  test('a use is noted at most once a minute, for token and device', async () => {
    const { identity } = world.store;
    await identity.insertDevice({ deviceId: 'dev_1', name: 'laptop' });
    await identity.insertToken(newToken('tok_1', { deviceId: 'dev_1' }));
    const used = async () => [
      (await identity.findToken('hash of tok_1'))?.lastUsedAt,
      (await identity.listDevices())[0]?.lastUsedAt,
    ];
    expect(await used()).toEqual([undefined, undefined]);
    await identity.touchToken('tok_1');
    const first = '2026-11-30T12:00:00.000Z';
    expect(await used()).toEqual([first, first]);
    world.runtime.advance(59_000);
    await identity.touchToken('tok_1');
    expect(await used()).toEqual([first, first]);
    world.runtime.advance(1_000);
    await identity.touchToken('tok_1');
    const second = '2026-11-30T12:01:00.000Z';
    expect(await used()).toEqual([second, second]);
    await identity.touchToken('tok_none');
  });

  test('a device code is moved once and found by what each side knows', async () => {
    const { deviceCodes } = world.store;
    const code = {
      deviceCodeHash: 'h1',
      userCode: 'BCDFGHJK',
      deviceName: 'laptop',
      expiresAt: '2026-11-30T12:15:00.000Z',
      status: 'pending',
    } as const;
    await deviceCodes.insert(code);
    const taken = deviceCodes.insert({ ...code, deviceCodeHash: 'h2' });
    await expect(taken).rejects.toMatchObject({ code: 'conflict' });
    expect(await deviceCodes.findByHash('h1')).toStrictEqual(code);
    expect(await deviceCodes.findByUserCode('BCDFGHJK')).toStrictEqual(code);
    expect(await deviceCodes.findByUserCode('bcdfghjk')).toBeUndefined();
    await deviceCodes.notePoll('h1');
    const approvals = await Promise.all(
      Array.from({ length: 5 }, () => deviceCodes.move('h1', 'pending', 'approved')),
    );
    expect(approvals.filter(Boolean)).toHaveLength(1);
    expect(await deviceCodes.move('h1', 'pending', 'denied')).toBe(false);
    expect(await deviceCodes.move('h1', 'approved', 'used')).toBe(true);
    expect(await deviceCodes.move('h1', 'approved', 'used')).toBe(false);
    const polledAt = '2026-11-30T12:00:00.000Z';
    expect(await deviceCodes.findByHash('h1')).toStrictEqual({ ...code, status: 'used', polledAt });
    // Long expired codes make room.
    world.runtime.advance(48 * 3600 * 1000);
    await deviceCodes.insert({ ...code, deviceCodeHash: 'h3' });
    expect(await deviceCodes.findByHash('h1')).toBeUndefined();
  });
}
