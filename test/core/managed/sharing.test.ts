import { describe, expect, it } from 'vitest';
import type { Identity } from '../../../src/core/engine.ts';
import { newSession } from '../../backend/store/make.ts';
import { call, codeOf, setRules, setServer, tool, useManaged, w } from './managed-world.ts';

useManaged();

describe('a server that is shared with some sessions', () => {
  it('tells a session of no server that is not shared with it, at any door', async () => {
    const [codex, claude] = ['sess_abcdefgh12345678', 'sess_bbcdefgh12345678'] as const;
    await w.store.sessions.insert(newSession(codex, { agentId: 'codex' }));
    await w.store.sessions.insert(newSession(claude, { agentId: 'claude' }));
    setServer('home', {
      tools: [tool('light')],
      config: { url: 'http://127.0.0.1:9', sessions: { agents: ['codex'] } },
    });
    const doors = async (sessionId: string, surface: 'agent' | 'mcp' = 'agent') => {
      const caller = {
        surface,
        client: 'x',
        tokenId: 't',
        tokenKind: 'agent' as const,
        scope: { sessionId },
      };
      const { discovery } = w;
      const ids = [
        (await discovery.search('light', { limit: 9 }, caller)).map(({ id }) => id),
        (await discovery.registry(surface, caller)).map(({ toolId }) => toolId),
        (await discovery.tools('agent', caller)).map(({ entry }) => entry.id),
        (
          await w.engine.catalog(surface, { tokenId: 't', kind: 'agent', scope: { sessionId } }, '1')
        ).actions.map(({ id }) => id),
      ].map((list) => list.includes('managed.home.light'));
      const looks = [
        discovery.describe('home__light', caller),
        discovery.explain({ actionId: 'home__light' }, caller),
        discovery.options(
          { actionId: 'home__light', field: 'place', input: {}, limit: 9 },
          caller,
          new AbortController().signal,
        ),
      ];
      const told = await Promise.allSettled(looks);
      return [...ids, ...told.map(({ status }) => status === 'fulfilled')];
    };
    expect(await doors(codex)).toEqual(Array(7).fill(true));
    expect(await doors(claude)).toEqual(Array(7).fill(false));
    // A token of one session is held to it on whatever surface it calls.
    expect(await doors(claude, 'mcp')).toEqual(Array(7).fill(false));
    const identity: Identity = { tokenId: 'tok_a', kind: 'agent', scope: { sessionId: claude } };
    expect(codeOf(await call('home__light', {}, { surface: 'mcp', identity }))).toBe('action_disabled');
  });

  it('holds an agent that calls with a credential of a person to the servers of its session', async () => {
    const sessionId = 'sess_abcdefgh12345678';
    await w.store.sessions.insert(newSession(sessionId, { mcpServers: [] }));
    const { calls } = setServer('home', { tools: [tool('a')] });
    const identity: Identity = { tokenId: 'tok_1', kind: 'device', scope: {}, agentSession: () => sessionId };
    expect(codeOf(await call('home__a', {}, { surface: 'agent', identity }))).toBe('action_disabled');
    expect(calls).toEqual([]);
  });

  it('does not carry out what was approved for a session that has lost the server since', async () => {
    const sessionId = 'sess_abcdefgh12345678';
    await w.store.sessions.insert(newSession(sessionId, { agentId: 'codex' }));
    const { calls } = setServer('home', { tools: [tool('a')] });
    await setRules({ 'managed.home.a': { agent: { approval: true } } });
    const identity: Identity = { tokenId: 'tok_a', kind: 'agent', scope: { sessionId } };
    const asked = await call('home__a', {}, { surface: 'agent', identity });
    if (asked.status !== 'approval_required') throw new Error(asked.status);
    setServer('home', { config: { url: 'http://127.0.0.1:9', sessions: { agents: [] } } });
    const person = { surface: 'cli', client: 'cli', tokenId: 't', tokenKind: 'device', scope: {} } as const;
    await expect(
      w.approvals.decide(asked.approval.artifactId, 'approve', undefined, person),
    ).rejects.toMatchObject({ code: 'approval_stale' });
    expect(calls).toEqual([]);
  });
});
