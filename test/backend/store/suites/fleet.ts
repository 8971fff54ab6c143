import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newHello, newSession } from '../make.ts';

export function fleetSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  test('machines come most recently seen first, those online before all', async () => {
    const { machines } = world.store;
    for (const id of ['mach_1', 'mach_2', 'mach_3']) {
      await machines.connect(newHello(id));
      world.runtime.advance(1000);
    }
    await machines.disconnect('mach_3');
    world.runtime.advance(1000);
    await machines.disconnect('mach_2');
    await machines.disconnect('mach_2');
    world.runtime.advance(1000);
    const list = await machines.list();
    expect(list.map((m) => [m.machineId, m.online, m.lastSeenAt.slice(17, 19)])).toEqual([
      ['mach_1', true, '05'],
      ['mach_2', false, '04'],
      ['mach_3', false, '03'],
    ]);
    expect(await machines.get('mach_none')).toBeUndefined();
  });

  test('a machine is refreshed when it connects again', async () => {
    const { machines } = world.store;
    await machines.connect(newHello('mach_1'));
    await machines.connect(
      newHello('mach_1', { machineName: 'new name', daemonVersion: '0.2.0', agents: [] }),
    );
    expect(await machines.get('mach_1')).toStrictEqual({
      machineId: 'mach_1',
      name: 'new name',
      platform: 'linux',
      online: true,
      lastSeenAt: '2026-11-30T12:00:00.000Z',
      daemonVersion: '0.2.0',
      agents: [],
    });
    const { agents } = newHello('mach_1');
    await machines.setAgents('mach_1', agents);
    expect((await machines.get('mach_1'))?.agents).toEqual(agents);
  });

  test('coming, going and the start of a backend are told, each once', async () => {
    const { machines, feed } = world.store;
    const heard: unknown[] = [];
    feed.subscribe((entry) =>
      heard.push(entry.type === 'machine.changed' && [entry.machineId, entry.online]),
    );
    await machines.connect(newHello('mach_1'));
    await machines.disconnect('mach_1');
    await machines.disconnect('mach_1');
    await machines.disconnect('mach_none');
    await machines.connect(newHello('mach_2'));
    await machines.disconnectAll();
    await machines.disconnectAll();
    expect(heard).toEqual([
      ['mach_1', true],
      ['mach_1', false],
      ['mach_2', true],
      ['mach_2', false],
    ]);
  });

  test('recent paths are counted, most recent first', async () => {
    const { machines, sessions } = world.store;
    const add = async (sessionId: string, directory: string, machineId = 'mach_1') => {
      await sessions.insert(newSession(sessionId, { directory, machineId }));
      world.runtime.advance(1000);
    };
    await add('sess_1', '/a');
    await add('sess_2', '/b');
    await add('sess_3', '/a');
    await add('sess_4', '/a', 'mach_2');
    expect(await machines.recentPaths({ limit: 10 })).toStrictEqual([
      { path: '/a', machineId: 'mach_2', lastUsedAt: '2026-11-30T12:00:03.000Z', sessions: 1 },
      { path: '/a', machineId: 'mach_1', lastUsedAt: '2026-11-30T12:00:02.000Z', sessions: 2 },
      { path: '/b', machineId: 'mach_1', lastUsedAt: '2026-11-30T12:00:01.000Z', sessions: 1 },
    ]);
    const places = { directory: '/a.worktrees/x', machineId: 'mach_1' };
    await sessions.insert(newSession('sess_5', { ...places, startOptions: { worktree: { branch: 'x' } } }));
    await sessions.insert(newSession('sess_6', { ...places, forkedFrom: { sessionId: 'sess_5', seq: 1 } }));
    await sessions.insert(newSession('sess_7', { ...places, directory: '/c', startOptions: {} }));
    expect((await machines.recentPaths({ limit: 10 })).map(({ path }) => path)).toEqual([
      '/c',
      '/a',
      '/a',
      '/b',
    ]);
    const started = {
      type: 'session_started' as const,
      acpSessionId: 'acp',
      permissionMode: 'default' as const,
      models: [],
      resumed: 'new' as const,
      seq: 1,
      at: '2026-11-30T12:00:00.000Z',
    };
    await sessions.insert(newSession('sess_8', { ...places, directory: '/a.worktrees/x' }));
    await world.store.transcripts.append('sess_5', [started]);
    expect((await machines.recentPaths({ limit: 10 })).map(({ path }) => path)).not.toContain(
      '/a.worktrees/x',
    );
    const paths = await machines.recentPaths({ machineId: 'mach_2', limit: 1 });
    expect(paths.map((path) => path.path)).toEqual(['/a']);
  });
}
