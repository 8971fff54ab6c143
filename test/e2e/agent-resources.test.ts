import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../surfaces/mcp/helpers/host.ts';
import { addTelling, connectGiven, givenTo } from './helpers/given.ts';
import { type Inside, openInside } from './helpers/inside.ts';

/** What the agent of a session reads by address: as much as its session may see, through either transport. */

let inside: Inside;
const clients: Client[] = [];
beforeAll(async () => {
  inside = await openInside();
  await addTelling(inside.world);
}, 90_000);
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await inside?.world.stop();
}, 90_000);

test.each(['over-http', 'over-stdio'])('%s', async (agentId) => {
  const { api, say, spawn } = inside;
  const [sessionId, other] = [await spawn(agentId), await spawn()];
  const client = await connectGiven(await givenTo(say, sessionId));
  clients.push(client);

  const { resources } = await client.listResources();
  const uris = resources.map(({ uri }) => uri);
  expect(uris).toContain('kaiwu://prompts/identity');
  expect(uris).toContain(`kaiwu://sessions/${sessionId}`);
  expect(uris).not.toContain(`kaiwu://sessions/${other}`);
  expect((await client.listPrompts()).prompts).toHaveLength(3);

  const own = `kaiwu://sessions/${sessionId}`;
  const { contents } = await client.readResource({ uri: own });
  expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ sessionId });
  for (const uri of [`kaiwu://sessions/${other}`, `kaiwu://sessions/${other}/transcript`]) {
    await expect(client.readResource({ uri })).rejects.toThrow(/./);
    await expect(client.subscribeResource({ uri })).rejects.toThrow(/./);
  }
  const reference = { type: 'ref/resource' as const, uri: 'kaiwu://sessions/{sessionId}' };
  const { completion } = await client.complete({
    ref: reference,
    argument: { name: 'sessionId', value: 'sess_' },
  });
  // Its own it knows; those below it there are none.
  expect(completion.values).toEqual([]);

  const heard: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    heard.push(params.uri);
  });
  await client.subscribeResource({ uri: own });
  await api.output('session.title.set', { sessionId: other, title: 'Other' });
  await api.output('session.title.set', { sessionId, title: `Own ${agentId}` });
  await until('the update', () => heard.length > 0);
  expect(new Set(heard)).toEqual(new Set([own]));

  const { rows } = await api.output('audit.list', { actionId: 'resource.read', sessionId: other });
  expect(rows).toEqual([]);
  const read = await api.output('audit.list', { client: 'agent:held-outside', actionId: 'resource.read' });
  expect(read.rows.length).toBeGreaterThan(0);
});
