import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { World } from '../helpers/world.ts';
import type { Api } from './helpers/api.ts';
import { addTelling, connectGiven, givenTo } from './helpers/given.ts';
import { type Inside, openInside } from './helpers/inside.ts';

let world: World;
let api: Api;
let spawn: Inside['spawn'];
let say: Inside['say'];
let tool: Inside['tool'];

beforeAll(async () => {
  ({ world, api, spawn, say, tool } = await openInside());
  await addTelling(world);
}, 90_000);
afterAll(() => world?.stop(), 60_000);

describe('the bearer of a session', () => {
  test.each(['over-http', 'over-stdio'])(
    '%s: is good while its agent runs, and no longer',
    async (agentId) => {
      const sessionId = await spawn(agentId);
      const given = await givenTo(say, sessionId);
      expect(given.name).toBe('kaiwu');
      expect(given.url === undefined).toBe(agentId === 'over-stdio');
      expect(JSON.stringify(given)).not.toMatch(/kw_|sess_/);
      const client = await connectGiven(given);
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('change_title');
      const titled = { name: 'change_title', arguments: { title: 'Held' } };
      expect((await client.callTool(titled)).structuredContent).toMatchObject({ sessionId, title: 'Held' });
      await api.output('session.stop', { sessionId });
      await expect(client.callTool(titled)).rejects.toThrow(/Unauthorized|cannot be reached/i);
      await client.close().catch(() => undefined);
      await expect(connectGiven(given)).rejects.toThrow(/Unauthorized|cannot be reached/i);
    },
  );

  test('while the backend is away its tools are listed and its calls answered, and they work when it is back', async () => {
    const known = await connectGiven(await givenTo(say, await spawn('over-http')));
    const fresh = await connectGiven(await givenTo(say, await spawn('over-http')));
    const titled = { name: 'change_title', arguments: { title: 'Held' } };
    expect((await known.callTool(titled)).isError).toBeUndefined();
    const { pid } = JSON.parse(readFileSync(join(world.home, 'backend/backend.json'), 'utf8')) as {
      pid: number;
    };
    // Nobody starts it again meanwhile.
    process.kill(world.pid, 'SIGSTOP');
    try {
      process.kill(pid, 'SIGKILL');
      for (const client of [known, fresh]) {
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain('change_title');
        const { structuredContent, isError } = await client.callTool(titled);
        expect(isError).toBe(true);
        expect(['backend_unreachable', 'machine_offline']).toContain(
          (structuredContent as { error: { code: string } }).error.code,
        );
      }
    } finally {
      process.kill(world.pid, 'SIGCONT');
    }
    const call = async (client: Client) => (await client.callTool(titled)).isError ?? false;
    for (const client of [known, fresh]) {
      await expect.poll(() => call(client), { timeout: 40_000 }).toBe(false);
      await client.close();
    }
  });

  test('a new start of the daemon gives a new one', async () => {
    const told = await spawn('over-http');
    const demo = await spawn();
    const before = await givenTo(say, told);
    await tool(demo, 'change_title', { title: 'Before' });
    const state = join(world.home, 'profiles/local/daemon.json');
    const pidNow = () => {
      try {
        return (JSON.parse(readFileSync(state, 'utf8')) as { pid: number }).pid;
      } catch {
        return undefined;
      }
    };
    const pid = pidNow()!;
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => pidNow() ?? pid, { timeout: 40_000 }).not.toBe(pid);
    await expect(connectGiven(before)).rejects.toThrow(/fetch failed|ECONNREFUSED|Unauthorized/i);
    expect(await tool(demo, 'change_title', { title: 'After' })).toMatchObject({ title: 'After' });
    const after = await givenTo(say, told);
    expect(after.headers).not.toEqual(before.headers);
    const client = await connectGiven(after);
    expect((await client.listTools()).tools).not.toEqual([]);
    await client.close();
  });
});
