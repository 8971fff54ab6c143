import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NewToken } from '../../../../src/backend/store/store.ts';
import type { InboxKind } from '../../../../src/core/ports/inbox.ts';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { agentText, file, newApproval, newSession, readAll, started, toEvents } from '../make.ts';

export function treeSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  /** A chain of sessions, each below the one before. */
  const chain = async (...ids: string[]): Promise<void> => {
    for (const [i, id] of ids.entries()) {
      await world.store.sessions.insert(newSession(id, { parentSessionId: ids[i - 1] }));
    }
  };
  const idsOf = (sessions: { sessionId: string }[]) => sessions.map(({ sessionId }) => sessionId);

  test('a session holds what it was started with, after a restart too', async () => {
    const more = {
      tags: ['a', 'ü "q"'],
      additionalDirectories: ['/x'],
      environmentNames: ['A'],
      runId: 'run_1',
      forkedFrom: { sessionId: 'sess_z', seq: 3 },
    };
    const startOptions = { createDirectory: true, worktree: { branch: 'b', base: 'main' } };
    const inserted = await world.store.sessions.insert(newSession('sess_a', { ...more, startOptions }));
    expect(inserted).toMatchObject({ ...more, depth: 0 });
    const { sessions } = await world.reopen();
    expect(await sessions.get('sess_a')).toStrictEqual(inserted);
    expect(await sessions.startOptionsOf('sess_a')).toStrictEqual(startOptions);
    await sessions.insert(newSession('sess_b'));
    expect(await sessions.startOptionsOf('sess_b')).toStrictEqual({});
    await expect(sessions.startOptionsOf('sess_no')).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('the tree is read in both directions', async () => {
    await chain('sess_r', 'sess_c', 'sess_g');
    await chain('sess_r2', 'sess_c2');
    const { sessions } = world.store;
    expect(idsOf(await sessions.lineage('sess_g'))).toEqual(['sess_r', 'sess_c', 'sess_g']);
    expect(idsOf(await sessions.lineage('sess_r'))).toEqual(['sess_r']);
    await expect(sessions.lineage('sess_no')).rejects.toMatchObject({ code: 'session_not_found' });
    for (const [id, root, is] of [
      ['sess_g', 'sess_r', true],
      ['sess_g', 'sess_g', true],
      ['sess_r', 'sess_g', false],
      ['sess_c2', 'sess_r', false],
      // Neither a prefix of an id nor one that does not exist is above anything.
      ['sess_c2', 'sess_r2'.slice(0, 6), false],
      ['sess_no', 'sess_r', false],
    ] as const) {
      expect([id, root, await sessions.isWithin(id, root)]).toEqual([id, root, is]);
    }
    const list = async (filter: object) => idsOf((await sessions.list(filter, { limit: 9 })).items);
    expect((await list({ below: 'sess_r' })).toSorted()).toEqual(['sess_c', 'sess_g']);
    expect(await list({ parentSessionId: 'sess_r' })).toEqual(['sess_c']);
    expect(await list({ below: 'sess_g' })).toEqual([]);
    await expect(list({ below: 'sess_no' })).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('many children of one parent at a moment all find their place', async () => {
    await chain('sess_r');
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        world.store.sessions.insert(newSession(`sess_c${i}`, { parentSessionId: 'sess_r' })),
      ),
    );
    const { items } = await world.store.sessions.list({ below: 'sess_r' }, { limit: 50 });
    expect(items.map(({ depth }) => depth)).toEqual(Array.from({ length: 20 }, () => 1));
  });

  test('no child below the sixth step, an archived or an unknown session', async () => {
    await chain(...Array.from({ length: 7 }, (_, i) => `sess_${i}`));
    const { sessions } = world.store;
    const below = (parentSessionId: string) => sessions.insert(newSession('sess_new', { parentSessionId }));
    await expect(below('sess_6')).rejects.toMatchObject({ code: 'session_too_deep' });
    await expect(below('sess_no')).rejects.toMatchObject({ code: 'session_not_found' });
    await sessions.setArchived('sess_0', true);
    await expect(below('sess_0')).rejects.toMatchObject({ code: 'session_archived' });
    await expect(sessions.get('sess_new')).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('a machine is told of an archiving once, and of the next one again', async () => {
    await chain('sess_a');
    const { sessions } = world.store;
    await sessions.setArchived('sess_a', true);
    expect(await sessions.archivedUntold('mach_one')).toEqual(['sess_a']);
    expect(await sessions.archivedUntold('mach_two')).toEqual([]);
    await sessions.markArchiveTold('sess_a', 'none');
    expect(await sessions.archivedUntold('mach_one')).toEqual([]);
    await sessions.setArchived('sess_a', false);
    await sessions.markArchiveTold('sess_a', 'none');
    await sessions.setArchived('sess_a', true);
    expect(await (await world.reopen()).sessions.archivedUntold('mach_one')).toEqual(['sess_a']);
  });

  const token = (tokenId: string): NewToken => ({
    tokenId,
    hash: `hash ${tokenId}`,
    kind: 'agent',
    name: 'agent',
    scope: { surfaces: ['agent'], sessionId: 'sess_a' },
  });
  const isGood = async (tokenId: string) =>
    (await world.store.identity.findToken(`hash ${tokenId}`))?.revokedAt === undefined;

  test('a session has one token, which ends with it and says so', async () => {
    await chain('sess_a');
    await chain('sess_b');
    const { identity, sessions, transcripts } = world.store;
    const revoked: string[] = [];
    identity.onSessionTokenRevoked((tokenId) => revoked.push(tokenId));
    await identity.insertSessionToken('sess_b', token('other'));
    await identity.insertSessionToken('sess_a', token('one'));
    await identity.insertSessionToken('sess_a', token('two'));
    expect([await isGood('one'), await isGood('two'), revoked]).toEqual([false, true, ['one']]);
    const events = toEvents(world.runtime, 1, started, { type: 'session_stopped' });
    await transcripts.append('sess_a', events);
    expect([await isGood('two'), revoked]).toEqual([false, ['one', 'two']]);
    await identity.insertSessionToken('sess_a', token('three'));
    // What was appended before changes nothing once more.
    await transcripts.append('sess_a', events);
    expect(await isGood('three')).toBe(true);
    await sessions.setArchived('sess_a', true);
    expect([await isGood('three'), await isGood('other')]).toEqual([false, true]);
    await sessions.failStart('sess_b', { code: 'agent_failed', message: 'no' });
    expect(revoked).toEqual(['one', 'two', 'three', 'other']);
    expect(await identity.listTokens()).toEqual([]);
    await expect(identity.insertSessionToken('sess_no', token('four'))).rejects.toMatchObject({
      code: 'session_not_found',
    });
  });

  test('the end of a long conversation is whole lines of its turns, cut at the start', async () => {
    await chain('sess_a');
    const { transcripts } = world.store;
    const bodies = Array.from({ length: 300 }, (_, i) => [
      { type: 'user_message' as const, messageId: `m${i}`, text: `ask ${i}` },
      agentText('par', 1, `m${i}`),
      agentText('t', 1, `m${i}`),
      { type: 'plan' as const, messageId: `m${i}`, entries: [] },
      agentText(`😀${i}`, 2, `m${i}`),
    ]).flat();
    await transcripts.append('sess_a', toEvents(world.runtime, 1, ...bodies));
    const whole = await transcripts.tail('sess_a', 1_000_000);
    expect(whole.complete).toBe(true);
    expect(whole.lines).toHaveLength(600);
    expect(whole.lines.at(-1)).toEqual({ role: 'agent', text: 'part\n\n😀299' });
    const text = whole.lines.map((line) => line.text).join('');
    for (const room of [1, 4, 5, 6, 11, 12, 1000]) {
      const { lines, complete } = await transcripts.tail('sess_a', room);
      const joined = lines.map((line) => line.text).join('');
      expect([room, complete, text.endsWith(joined)]).toEqual([room, false, true]);
      expect(joined.length).toBeLessThanOrEqual(room);
      expect(joined.length).toBeGreaterThanOrEqual(room - 1);
      expect(joined).not.toMatch(/\p{Surrogate}/u);
    }
  });

  test('pages of the inbox hold everything once, of all kinds together', async () => {
    const { sessions, transcripts, inbox } = world.store;
    const expected: string[] = [];
    for (let i = 0; i < 12; i++) {
      const sessionId = `sess_${i}`;
      await sessions.insert(newSession(sessionId));
      if (i % 3 === 0) {
        await file(world.store, newApproval(`a-${i}`, world.runtime, { sessionId }));
        expected.push(`approval a-${i}`);
      }
      const failed = { type: 'session_failed' as const, reason: { code: 'agent_failed', message: 'x' } };
      const asks = {
        type: 'permission_requested' as const,
        messageId: 'm',
        request: { requestId: 'p', title: 't', options: [] },
      };
      const stalls = { type: 'stalled' as const, messageId: 'm', since: world.runtime.now().toISOString() };
      const events = i % 2 === 0 ? [started, failed] : [started, asks, stalls];
      await transcripts.append(sessionId, toEvents(world.runtime, 1, ...events));
      expected.push(
        ...(i % 2 === 0 ? [`failed ${sessionId}`] : [`permission ${sessionId}`, `stalled ${sessionId}`]),
      );
      // Some share one millisecond.
      world.runtime.advance(i % 4 === 0 ? 1 : 0);
    }
    const now = world.runtime.now().toISOString();
    const read = async (limit: number, kind?: InboxKind) =>
      (await readAll((page) => inbox.list({ now, ...(kind && { kind }) }, page), limit)).map(
        (row) => `${row.kind} ${row.approval?.artifactId ?? row.session?.sessionId}`,
      );
    const all = await read(100);
    expect(all.toSorted()).toEqual(expected.toSorted());
    for (const limit of [1, 2, 3, 7]) expect(await read(limit)).toEqual(all);
    expect(await read(2, 'stalled')).toEqual(all.filter((item) => item.startsWith('stalled')));
    const later = await inbox.list({ now: '2027-01-01T00:00:00.000Z' }, { limit: 100 });
    expect(later.items.some(({ kind }) => kind === 'approval')).toBe(false);
  });
}
