import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'vitest';
import type { World } from '../../helpers/world.ts';
import type { Inside } from './inside.ts';

/** Stands in for agents that tell what they were given: the message `received` is answered with it. */
const TELLING = join(import.meta.dirname, '../../daemon/fakes/agent.mjs');

export interface Given {
  name: string;
  url?: string;
  headers?: { name: string; value: string }[];
  command?: string;
  args?: string[];
  env?: { name: string; value: string }[];
}

/** Two agents that tell what they were given: `over-http` and `over-stdio`, as they speak MCP. */
export async function addTelling(world: World): Promise<void> {
  for (const [name, http] of [
    ['over-http', true],
    ['over-stdio', false],
  ] as const) {
    const capabilities = JSON.stringify({
      loadSession: true,
      ...(http ? { mcpCapabilities: { http } } : {}),
    });
    const command = ['--', process.execPath, TELLING, 'plain'];
    const given = ['--env', `FAKE_CAPABILITIES=${capabilities}`];
    const added = await world.cli(['agents', 'add', name, ...given, ...command]);
    if (added.code !== 0) throw new Error(added.stderr);
  }
}

/** The MCP server that the agent of a session was given, as that agent tells it. */
export async function givenTo(say: Inside['say'], sessionId: string): Promise<Given> {
  const received = JSON.parse(await say(sessionId, 'received')) as {
    method?: string;
    params?: { mcpServers?: Given[] };
  }[];
  const opened = received.findLast(({ params }) => params?.mcpServers !== undefined);
  expect(opened?.params?.mcpServers).toHaveLength(1);
  return opened!.params!.mcpServers![0]!;
}

export async function connectGiven(given: Given): Promise<Client> {
  const client = new Client({ name: 'held-outside', version: '1' });
  const pairs = (list: { name: string; value: string }[] = []) =>
    Object.fromEntries(list.map(({ name, value }) => [name, value]));
  await client.connect(
    given.url === undefined
      ? new StdioClientTransport({ command: given.command!, args: given.args!, env: pairs(given.env) })
      : new StreamableHTTPClientTransport(new URL(given.url), {
          requestInit: { headers: pairs(given.headers) },
        }),
  );
  return client;
}
