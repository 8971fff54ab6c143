import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newHello, newSession, readAll } from '../make.ts';

export function sessionsSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  const insert = async (count: number, more = {}): Promise<string[]> => {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      const sessionId = world.runtime.newId('sess');
      await world.store.sessions.insert(newSession(sessionId, more));
      ids.push(sessionId);
      // Some share one millisecond.
      world.runtime.advance(i % 3 === 0 ? 1 : 0);
    }
    return ids;
  };

  test('a session is what was stored, after a restart too', async () => {
    const { sessions } = world.store;
    const inserted = await sessions.insert(
      newSession('sess_a', { title: 'Mein Titel 标题', modelId: 'big' }),
    );
    const expected = {
      sessionId: 'sess_a',
      title: 'Mein Titel 标题',
      titleSource: 'user',
      status: 'starting',
      agentId: 'demo',
      machineId: 'mach_one',
      directory: '/work/place',
      permissionMode: 'default',
      modelId: 'big',
      tags: [],
      depth: 0,
      createdAt: '2026-11-30T12:00:00.000Z',
      updatedAt: '2026-11-30T12:00:00.000Z',
      lastSeq: 0,
    };
    expect(inserted).toStrictEqual(expected);
    const store = await world.reopen();
    expect(await store.sessions.get('sess_a')).toStrictEqual(expected);
    expect(await store.sessions.modelsOf('sess_a')).toStrictEqual([]);
  });

  test('an unknown session is named by its error', async () => {
    const { sessions } = world.store;
    const missing = { code: 'session_not_found', message: expect.stringContaining('sess_none') };
    await expect(sessions.get('sess_none')).rejects.toMatchObject(missing);
    await expect(sessions.setTitle('sess_none', 'x')).rejects.toMatchObject(missing);
    await expect(sessions.setArchived('sess_none', true)).rejects.toMatchObject(missing);
    await expect(sessions.modelsOf('sess_none')).rejects.toMatchObject(missing);
  });

  test('pages hold every session once, newest first, while others are added', async () => {
    const ids = await insert(25);
    const { sessions } = world.store;
    const read = await readAll(
      (page) => sessions.list({}, page),
      4,
      () => insert(3),
    );
    expect(new Set(read.map((s) => s.sessionId))).toEqual(new Set(ids));
    expect(read).toHaveLength(25);
    const keys = read.map((s) => `${s.createdAt} ${s.sessionId}`);
    expect(keys).toEqual(keys.toSorted().toReversed());
  });

  test('the last page has no cursor, also when it is full', async () => {
    await insert(4);
    const { sessions } = world.store;
    const first = await sessions.list({}, { limit: 2 });
    const second = await sessions.list({}, { limit: 2, cursor: first.nextCursor ?? '' });
    expect(first.nextCursor).toBeTypeOf('string');
    expect(second.items).toHaveLength(2);
    expect(Object.keys(second)).toEqual(['items']);
  });

  test('a bad cursor is refused, whatever it is', async () => {
    await insert(3);
    const { sessions, audit } = world.store;
    const { nextCursor = '' } = await sessions.list({}, { limit: 1 });
    const list = btoa(JSON.stringify(['sessions', 1, 2]));
    for (const cursor of [
      '',
      'x',
      '%%%',
      nextCursor.slice(0, -4),
      list,
      btoa('["sessions"]'),
      btoa('null'),
    ]) {
      await expect(sessions.list({}, { limit: 1, cursor })).rejects.toMatchObject({ code: 'invalid_input' });
    }
    await expect(audit.list({}, { limit: 1, cursor: nextCursor })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  test('filters narrow the list', async () => {
    const { sessions } = world.store;
    await insert(2);
    await sessions.insert(newSession('sess_other', { machineId: 'mach_two', agentId: 'codex' }));
    await sessions.insert(
      newSession('sess_title', { title: '修复 Straße ÄPFEL 100%_done', directory: '/srv/Über' }),
    );
    await sessions.failStart('sess_other', { code: 'agent_failed', message: 'no' });
    const idsOf = async (filter: Parameters<typeof sessions.list>[0]) =>
      (await sessions.list(filter, { limit: 10 })).items.map((s) => s.sessionId);
    expect(await idsOf({ machineId: 'mach_two' })).toEqual(['sess_other']);
    expect(await idsOf({ agentId: 'codex' })).toEqual(['sess_other']);
    expect(await idsOf({ status: 'failed' })).toEqual(['sess_other']);
    expect(await idsOf({ status: 'idle' })).toEqual([]);
    for (const query of ['äpfel', 'STRAßE', '修复', '100%_D', '/SRV/ü']) {
      expect({ query, ids: await idsOf({ query }) }).toEqual({ query, ids: ['sess_title'] });
    }
    expect(await idsOf({ query: '1%done' })).toEqual([]);
    expect(await idsOf({ query: 'd_ne' })).toEqual([]);
  });

  test('archived sessions are left out unless asked for', async () => {
    const { sessions } = world.store;
    await insert(1);
    await sessions.insert(newSession('sess_old'));
    world.runtime.advance(1000);
    const archived = await sessions.setArchived('sess_old', true);
    expect(archived.archivedAt).toBe('2026-11-30T12:00:01.001Z');
    world.runtime.advance(1000);
    expect(await sessions.setArchived('sess_old', true)).toStrictEqual(archived);
    const count = async (state?: 'exclude' | 'include' | 'only') =>
      (await sessions.list({ ...(state && { archived: state }) }, { limit: 10 })).items.length;
    expect([await count(), await count('exclude'), await count('include'), await count('only')]).toEqual([
      1, 1, 2, 1,
    ]);
    expect((await sessions.ofMachine('mach_one')).map((s) => s.sessionId)).not.toContain('sess_old');
    expect((await sessions.setArchived('sess_old', false)).archivedAt).toBeUndefined();
    expect(await count()).toBe(2);
  });

  test('a prefix finds with and without sess_, taken as it is', async () => {
    const { sessions } = world.store;
    for (const id of ['sess_abc1', 'sess_abc2', 'sess_abc', 'sess_xyz', 'sess_sess']) {
      await sessions.insert(newSession(id));
    }
    const find = async (prefix: string, limit = 10) =>
      (await sessions.findByPrefix(prefix, limit)).map((s) => s.sessionId);
    expect(await find('ab')).toEqual(['sess_abc', 'sess_abc1', 'sess_abc2']);
    expect(await find('sess_ab', 2)).toEqual(['sess_abc', 'sess_abc1']);
    expect(await find('abc')).toEqual(['sess_abc']);
    expect(await find('sess_abc')).toEqual(['sess_abc']);
    expect(await find('sess_xyz')).toEqual(['sess_xyz']);
    expect(await find('sess')).toEqual(['sess_sess']);
    for (const none of ['', 'sess_', '%', '_', 'a%', 'ab_', 'ABC', 'SESS_abc', 'sess_abc12', "a' or 1=1"]) {
      expect({ none, ids: await find(none) }).toEqual({ none, ids: [] });
    }
  });

  test('only a session that still starts can fail to start', async () => {
    const { sessions } = world.store;
    await sessions.insert(newSession('sess_a'));
    const reason = { code: 'agent_failed', message: 'it did not start' };
    await sessions.failStart('sess_a', reason);
    expect(await sessions.get('sess_a')).toMatchObject({ status: 'failed', reason });
    await sessions.failStart('sess_a', { code: 'timeout', message: 'again' });
    expect(await sessions.get('sess_a')).toMatchObject({ status: 'failed', reason });
  });

  test('a session tells since when its machine is offline', async () => {
    const { sessions, machines } = world.store;
    await sessions.insert(newSession('sess_a'));
    expect(await sessions.get('sess_a')).not.toHaveProperty('machineOfflineSince');
    await machines.connect(newHello('mach_one'));
    expect(await sessions.get('sess_a')).not.toHaveProperty('machineOfflineSince');
    world.runtime.advance(5000);
    await machines.disconnect('mach_one');
    world.runtime.advance(5000);
    await machines.disconnectAll();
    const since = '2026-11-30T12:00:05.000Z';
    expect((await sessions.get('sess_a')).machineOfflineSince).toBe(since);
    expect((await sessions.list({}, { limit: 1 })).items[0]?.machineOfflineSince).toBe(since);
    await machines.connect(newHello('mach_one'));
    expect(await sessions.get('sess_a')).not.toHaveProperty('machineOfflineSince');
  });

  test('the sessions of a machine come oldest first', async () => {
    const { sessions } = world.store;
    for (const id of ['sess_c', 'sess_a', 'sess_b']) {
      await sessions.insert(newSession(id));
      world.runtime.advance(1);
    }
    await sessions.insert(newSession('sess_d', { machineId: 'mach_two' }));
    const ids = (await sessions.ofMachine('mach_one')).map((s) => s.sessionId);
    expect(ids).toEqual(['sess_c', 'sess_a', 'sess_b']);
  });
}
