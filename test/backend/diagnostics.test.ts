import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ManagedWorld, openManagedWorld } from './helpers/managed-world.ts';
import { send } from './helpers/raw-http.ts';

let world: ManagedWorld;
beforeEach(async () => {
  world = await openManagedWorld();
});
afterEach(() => world.end());

const SECRET = 'a-word-that-nobody-else-says';
const diagnose = () => world.ok(world.token, 'tool.registry.diagnostics', {}, { surface: 'mcp' } as never);
const setPolicy = (rules: object) => world.ok(world.token, 'policy.set', { rules });
const onMcp = (actionId: string, input: object) =>
  world.call(world.token, actionId, input, { surface: 'mcp', client: 'Some Host' } as never);

describe('diagnostics of the registry', () => {
  it('count tools by route and effect as the registry lists them', async () => {
    await world.add();
    const { inventory } = await diagnose();
    const { tools } = await world.ok(world.token, 'tool.registry.list', {}, { surface: 'mcp' } as never);
    const all = tools as { route: string; effect: string; enabled: boolean }[];
    const tally = (key: 'route' | 'effect') =>
      [...new Set(all.map((tool) => tool[key]))].toSorted().map((of) => ({
        of,
        tools: all.filter((tool) => tool[key] === of).length,
        enabled: all.filter((tool) => tool[key] === of && tool.enabled).length,
      }));
    expect(inventory).toEqual({
      tools: all.length,
      enabled: all.filter(({ enabled }) => enabled).length,
      byRoute: tally('route'),
      byEffect: tally('effect'),
    });
    expect(tally('route')).toMatchObject([{ of: 'mcp:files', tools: 2 }, { of: 'native' }]);
  });

  it('tell from where what is changed, and what the policy adds up to', async () => {
    const before = await diagnose();
    const of = (report: typeof before, name: string) =>
      (report.writeSurfaces as Record<string, unknown>[]).find(({ surface }) => surface === name) as {
        unasked: number;
        asks: number;
        off: number;
        destructiveUnasked: string[];
      };
    const { version } = before.policy as { version: number };
    expect(of(before, 'cli').destructiveUnasked).toContain('memory.forget');
    await setPolicy({
      'memory.forget': { cli: { approval: true }, voice: { enabled: false } },
      'session.archive': { mcp: { enabled: false } },
    });
    const after = await diagnose();
    expect(of(after, 'cli').destructiveUnasked).not.toContain('memory.forget');
    expect(of(after, 'cli').asks).toBe(of(before, 'cli').asks + 1);
    expect(of(after, 'mcp').off).toBe(of(before, 'mcp').off + 1);
    expect(after.policy).toEqual({
      version: version + 1,
      rules: 2,
      turnsOn: 0,
      turnsOff: 2,
      asks: 1,
      asksNobody: 0,
    });
  });

  it('keep the newest 50 refusals, with nothing of what was asked', async () => {
    await setPolicy({ 'session.archive': { mcp: { enabled: false } } });
    expect((await diagnose()).denials).toEqual([]);
    for (let i = 0; i < 55; i += 1) await onMcp('session.archive', { sessionId: SECRET });
    // What went wrong otherwise is no denial.
    await onMcp('session.title.set', { sessionId: SECRET, title: SECRET });
    await world.call(world.token, 'memory.learn', { text: SECRET }, { surface: 'nowhere' } as never);
    const { denials, ...rest } = await diagnose();
    const rows = denials as { at: string; toolId: string }[];
    expect(rows).toHaveLength(50);
    expect(rows.map(({ at }) => at)).toEqual(
      rows
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    expect(rows.find(({ toolId }) => toolId === 'session.archive')).toMatchObject({
      surface: 'mcp',
      client: 'mcp:some-host',
      code: 'action_disabled',
    });
    expect(JSON.stringify([rows, rest])).not.toContain(SECRET);
  });

  it('tell of providers and servers, and come over JSON-RPC as well', async () => {
    await world.add({ provider: 'acme', env: { API_KEY: SECRET } });
    const provider = { id: 'acme', displayName: 'Acme', sourceUri: `https://example.com/${SECRET}` };
    await world.ok(world.token, 'capability.provider.add', provider);
    const { status, json } = await send(world.url, {
      method: 'POST',
      path: '/rpc',
      headers: { authorization: `Bearer ${world.token}` },
      chunks: [
        new TextEncoder().encode(
          JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'kaiwu.tool_registry_diagnostics' }),
        ),
      ],
    });
    expect(status).toBe(200);
    expect(json.result).toMatchObject({
      providers: [{ id: 'acme', trust_state: 'untrusted', enabled: true, counts: false }],
      servers: [{ name: 'files', status: 'ready', tool_counts: { provider_not_trusted: 2 } }],
      tools: { available: 0, unavailable: 2 },
      write_surfaces: expect.any(Array),
      denials: [],
    });
    expect(JSON.stringify(json)).not.toContain(SECRET);
  });
});
